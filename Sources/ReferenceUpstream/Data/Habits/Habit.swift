/// One way in which real upstreams differ from an ideal one: strongly consistent, verbatim, whole and honest.
///
/// The raw value is its name on the admin path.
package enum Habit: String, Sendable, CaseIterable {
    // Replicas.
    /// Lists show the records as they were this long ago.
    case laggingLists = "lagging_lists"
    /// Single reads show the record as it was this long ago.
    case laggingRecords = "lagging_records"
    /// Answers to writes show the record as it was this long ago; a new record is shown as it is.
    case laggingAnswers = "lagging_answers"
    /// Lists of changes show a deletion this much later.
    case laggingTombstones = "lagging_tombstones"
    /// Each lag is drawn for every request, from nothing to the whole.
    case wandering

    // What the server makes of a value.
    /// Spaces around text are removed.
    case trim
    /// Text becomes lower case.
    case lowerCase = "lower_case"
    /// Amounts and numbers are rounded to two decimals.
    case cents
    /// Amounts and numbers are answered as text with two decimals: `"12.50"`.
    case decimalText = "decimal_text"
    /// Times are cut to the minute.
    case minutes
    /// Times are cut to the second, and written without a fraction.
    case seconds
    /// Times are written with milliseconds.
    case milliseconds
    /// The elements of lists are sorted.
    case sorted
    /// Fields without a value get one: empty text, 0, false, an empty list.
    case defaults
    /// Members that the schema does not name are dropped.
    case knownOnly = "known_only"

    // Answers to writes.
    /// Only the key and what was sent.
    case partialAnswers = "partial_answers"
    /// Only the key.
    case idAnswers = "id_answers"
    /// `{"success": true}`.
    case successAnswers = "success_answers"
    /// An empty body.
    case emptyAnswers = "empty_answers"
    /// 201 with `Location` and without a body for a creation.
    case locationAnswers = "location_answers"
    /// 202, and the write is applied this much later.
    case later
    /// Single records stand alone in their answer, though lists are wrapped.
    case bareRecords = "bare_records"

    // Keys.
    /// Keys are small integers.
    case integerIDs = "integer_ids"
    /// Keys are integers beyond 2^53.
    case largeIDs = "large_ids"
    /// Keys are integers beyond 2^63.
    case hugeIDs = "huge_ids"
    /// Keys follow the records' titles, and change with them.
    case slugs
    /// References of another JSON type than the keys are refused with 422.
    case strictReferences = "strict_references"
    /// References become values of the keys' JSON type.
    case coercedReferences = "coerced_references"

    // Views.
    /// Lists lack these fields.
    case omittedMembers = "omitted_members"
    /// Fields with a `from` in the schema stand under their own name in lists, and at that place in single records.
    case membersElsewhere = "members_elsewhere"
    /// There are no single reads: they are answered with this status.
    case listsOnly = "lists_only"

    // Lists.
    /// The total is off by this much.
    case wrongTotals = "wrong_totals"
    /// One record is always listed twice.
    case listedTwice = "listed_twice"
    /// This share of the pages after the first begins one row too early or too late.
    case slidingRows = "sliding_rows"
    /// Whole lists end after this many records.
    case cutLists = "cut_lists"

    // Change times.
    /// One record of four has a change time this far ahead.
    case futureTimes = "future_times"
    /// Change times have no fraction of a second.
    case wholeSeconds = "whole_seconds"
    /// All records that exist when this is set get the same change time.
    case equalTimes = "equal_times"

    // Writes.
    /// `PUT` erases the fields that it does not send.
    case replacingPut = "replacing_put"
    /// This share of the records refuses every write with 409.
    case locked
    /// Idempotency keys are forgotten after this time.
    case forgottenKeys = "forgotten_keys"

    // Texts.
    /// Every JSON body begins with a byte order mark.
    case byteOrderMark = "byte_order_mark"
    /// One record of each list has `NaN` for a number.
    case notANumber = "not_a_number"
    /// Errors as Django REST framework writes them.
    case frameworkErrors = "drf_errors"
    /// Errors as PocketBase writes them.
    case pocketErrors = "pocketbase_errors"
    /// Errors as Laravel writes them.
    case laravelErrors = "laravel_errors"

    // Gateways.
    /// This share of the answers is cut off, after the request was applied.
    case cutAnswers = "cut_answers"
    /// Answers to reads are repeated for this long, with an `Age`.
    case cachedAnswers = "cached_answers"
    /// This share of the writes reaches the server twice.
    case repeatedRequests = "repeated_requests"

    // For a while.
    /// 404 to everything.
    case blanket404 = "blanket_404"
    /// 403 to everything.
    case blanket403 = "blanket_403"
    /// 302 to a sign-in page.
    case signInPage = "sign_in_page"
    /// 200 with a page for people.
    case html200 = "html_200"
    /// 503 with a page for people.
    case html503 = "html_503"
    /// Every list is empty once.
    case emptyLists = "empty_lists"
    /// The token has expired: lists are empty, and single records are unknown.
    case signedOut = "signed_out"

    // Tokens and lists of deletions.
    /// Tokens for changes are unknown after this time.
    case forgottenTokens = "forgotten_tokens"
    /// Lists of deletions have only those of the last time of this length.
    case forgottenTombstones = "forgotten_tombstones"
    /// This share of the requests for deletions fails.
    case failingTombstones = "failing_tombstones"
}

extension Habit {
    /// What is set with a habit.
    enum Kind {
        case flag, time, share, count, names, spell
    }

    var kind: Kind {
        switch self {
        case .laggingLists, .laggingRecords, .laggingAnswers, .laggingTombstones, .later, .futureTimes, .forgottenKeys,
            .cachedAnswers, .forgottenTokens, .forgottenTombstones:
            .time
        case .slidingRows, .locked, .cutAnswers, .repeatedRequests, .failingTombstones: .share
        case .listsOnly, .wrongTotals, .cutLists: .count
        case .omittedMembers: .names
        case .blanket404, .blanket403, .signInPage, .html200, .html503, .emptyLists, .signedOut: .spell
        default: .flag
        }
    }

    /// Habits that exclude each other.
    package static let alternatives: [[Habit]] = [
        [.minutes, .seconds, .milliseconds],
        [.partialAnswers, .idAnswers, .successAnswers, .emptyAnswers, .later],
        [.locationAnswers, .later],
        [.integerIDs, .largeIDs, .hugeIDs, .slugs],
        [.strictReferences, .coercedReferences],
        [.frameworkErrors, .pocketErrors, .laravelErrors],
    ]
}
