package import JSONText

/// How an entity's records are pulled.
package struct PullPlan: Sendable, Equatable {
    package enum Mode: Sendable, Equatable {
        /// Only what changed since the watermark; each pull starts `overlap` before it.
        case since(parameter: SinceParameter, overlap: Duration)
        /// Only what changed since the upstream gave out a token.
        case delta(DeltaToken)
        /// Pages by change time, newest first, until a whole page is known.
        case newestFirst
        /// Everything, each time.
        case full
    }

    /// How a request says since when it wants changes: `?<name>=<time>`.
    package struct SinceParameter: Sendable, Equatable {
        package var name: String
        package var format = TimeFormat.iso
        /// The time stands in a template of the list (`ListCall`), and there is no parameter.
        package var isInTemplate = false
        /// What stands around the time: `(updated>='` and `')`.
        package var before = ""
        package var after = ""
        /// The time that a request for everything sends, for a list that is not served without one.
        package var from: String?

        /// A text that is no time is sent as it is.
        package func item(_ time: String) -> QueryItem {
            QueryItem(name: name, value: before + (Timestamp(iso8601: time).map(format.text) ?? time) + after)
        }

        package var example: String { item("2026-01-31T09:00:00Z").value }

        /// The time that `item` was made of; nil for any other text.
        package func time(in value: String) -> Timestamp? {
            guard value.count >= before.count + after.count, value.hasPrefix(before), value.hasSuffix(after) else {
                return nil
            }
            return format.time(String(value.dropFirst(before.count).dropLast(after.count)))
        }
    }

    /// A mark of the upstream's for what it has given out, which is sent back to ask for what changed since.
    package struct DeltaToken: Sendable, Equatable {
        package enum Form: Sendable, Equatable {
            /// Sent back as this parameter; nil where it stands in a template of the list.
            case token(parameter: String?)
            /// The whole address of the next request.
            case link
        }

        /// Where the last page of a list has it.
        package var place: Place
        package var form: Form
        /// Answers that say that the token is no longer known, besides those that refuse it anyway.
        package var expired: [Int]
        /// What changed since comes with the changed members alone.
        package var isPartial = false
        /// Where an answer says that it has the whole list, in spite of the token.
        package var full: Place?

        /// Whether an answer says so.
        package func isIgnored(by answer: JSONText) -> Bool {
            DeletionMark(name: "").isSet(by: full?.value(in: answer))
        }
    }

    /// What marks a record as deleted.
    package struct DeletionMark: Sendable, Equatable {
        /// The member, or the field, that marks it.
        package var name: String
        /// Its values that do; nil for any that does not mean no.
        package var values: [String]?
        /// Where the record has it, if that is inside another member.
        package var place: String?

        /// What servers without booleans or nulls write for them; the last two are times that were never set.
        private static let no: Set<String> = [
            "", "0", "false", "no", "0001-01-01T00:00:00Z", "0000-00-00 00:00:00",
        ]

        package func isSet(by value: JSONText?) -> Bool {
            guard let value, value.kind != .null else { return false }
            return values.map { $0.contains(value.plain) } ?? !Self.no.contains(value.plain)
        }
    }

    /// A single record's own path, and where the response has it.
    package struct Single: Sendable, Equatable {
        /// False if the upstream serves no single records.
        package var isServed = true
        package var method = "GET"
        package var path: Template
        /// What is posted, with values of the record.
        package var body: BodyTemplate?
        package var place: Place
        /// The place is the upstream's, not one that the entity sets.
        package var isPlaceInherited = false
    }

    /// Records of another entity that come with each record of this one.
    package struct Detail: Sendable, Equatable {
        /// Requested for each changed record; nil when the other records are embedded in the record itself.
        package var path: Template?
        /// Only the single record embeds them, not the list's.
        package var isInSingle = false
        package var entity: String
        /// How the response to `path`, or the record itself, contains them.
        package var list: ListPlan
        /// The field of the other entity with this one's key; set when a record comes without it.
        package var by: String?
        /// The key field of the other entity.
        package var key: String?
        /// Whether they are deleted with this one: they come in no other way, and no relation sets a rule.
        package var goesAlong = false

        /// Whether the records of the list embed them.
        package var isInList: Bool { path == nil && !isInSingle }
    }

    /// What is requested for each record that changed, besides the list: the details with a path, or the single record.
    package struct Fetch: Sendable, Equatable {
        package enum Trigger: Sendable, Equatable {
            /// The value of a field is another one.
            case field(String)
            /// Anything in the record is.
            case any
        }

        package var trigger: Trigger
        package var isSingle: Bool
    }

    package var path: String
    /// Parameters of every page request.
    package var query: [QueryItem]
    /// How it is asked for, if it is more than `path` and `query`.
    package var call: ListCall?
    package var list: ListPlan
    /// The list of what changed; nil if the one above is asked for that too.
    package var changes: ChangesList?
    package var mode: Mode
    /// The field with a record's change time.
    package var changedAt: String?
    package var deleted: DeletionMark?
    package var single: Single
    /// How far ahead of UTC the upstream's change times without zone are.
    package var clock = Duration.zero
    package var details: [Detail] = []
    package var fetch: Fetch?
    /// Which records the cache keeps; nil for all.
    package var window: Window?

    /// The field whose change means that the record has to be fetched.
    package var whenChanged: String? { if case .field(let name) = fetch?.trigger { name } else { nil } }

    /// Whether a pull can ask only for records changed since a time.
    package var isSince: Bool { if case .since = mode { true } else { false } }

    /// What a pull of changes sends back to the upstream, if that is no time.
    package var deltaToken: DeltaToken? { if case .delta(let token) = mode { token } else { nil } }

    /// How times are written in requests for changes.
    package var sinceFormat: TimeFormat? {
        if case .since(let parameter, _) = mode { parameter.format } else { nil }
    }

    /// What the coarsest form of a time in requests for changes cuts off.
    package var sincePrecision: Duration {
        guard case .since(let parameter, _) = mode else { return .zero }
        return sinceFormatsInCall.reduce(parameter.format.precision) { max($0, $1.precision) }
    }

    /// The offset that the form of times in requests has but does not show.
    var clockOfRequests: Duration {
        guard case .since(let parameter, _) = mode else { return .zero }
        for case .pattern(let pattern) in [parameter.format] + sinceFormatsInCall where pattern.hidesOffset {
            return pattern.offset ?? .zero
        }
        return .zero
    }

    private var sinceFormatsInCall: [TimeFormat] {
        let call = changes?.call ?? call
        return call?.placeholders.filter { $0.name == .value("since") }.compactMap(\.format) ?? []
    }

    /// Whether change times may be numbers: not where requests have the times that are read in answers, in another form.
    var hasNumberedTimes: Bool { sinceFormat?.isNumber ?? true }

    /// How long after its change time a record may still appear.
    package var overlap: Duration { if case .since(_, let overlap) = mode { overlap } else { Self.defaultOverlap } }

    static let defaultOverlap = Duration.seconds(300)
}

extension EntitySchema {
    /// The entities whose records come with some of this one.
    package func parents(of child: Entity) -> [(parent: Entity, detail: PullPlan.Detail)] {
        entities.flatMap { parent in
            (parent.pull?.details ?? []).filter { $0.entity == child.name }.map { (parent, $0) }
        }
    }
}
