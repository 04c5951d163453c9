package import JSONText

/// One known field of an entity: the type of its values and how the cache treats them.
///
/// A pulled record whose values do not fit is stored anyway; only local writes are checked.
package struct Field: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case string, integer, number, money, boolean, time, date, object, list
        case `enum`([EnumValue])
        /// The key of a record of another entity.
        case reference(to: String)

        /// The type's name in a schema file.
        package var word: String {
            switch self {
            case .enum: "enum"
            case .reference: "reference"
            case .string, .integer, .number, .money, .boolean, .time, .date, .object, .list: description
            }
        }
    }

    package struct EnumValue: Sendable, Equatable {
        package var value: String
        /// How people see it.
        package var label: String
        /// The name of an icon for the value, in the set that the reader uses.
        package var icon: String?
    }

    /// How a field is found by full-text search.
    package enum Search: String, Sendable, Equatable, CaseIterable {
        /// By words and their beginnings, ignoring accents and case.
        case words
        /// By any part of the value, ignoring separators: telephone and serial numbers.
        case fragments
    }

    /// A field of another entity.
    package struct Other: Sendable, Equatable {
        package var entity: String
        package var field: String
    }

    package var name: String
    package var kind: Kind
    /// The path of the value in the upstream's record when there is no member of the field's own name.
    package var source: String?
    /// The place of an address whose last segment is the value, which records get as a member of the field's name (`Lift`).
    package var link: String?
    /// The address that is sent for the value, with the field in braces; nil if the value itself is sent.
    var sentLink: Template?
    /// Filters and sorts on it use an index.
    package var indexed = false
    /// People name records by it, such as orders by their numbers, and requests may use it in place of the key.
    package var isNatural = false
    /// Nil when search ignores it.
    package var search: Search?
    /// A record created locally must have it.
    package var required = false
    /// Nor can a local write make it an empty text.
    package var isNeverEmpty = false
    /// Left out of everything that is shown, logged or indexed.
    package var secret = false
    /// Stored only encrypted, and shown to callers.
    package var sealed = false
    /// A list that is merged element by element if both sides have changed it.
    package var mergesAsSet = false
    /// How the value is computed locally; nil if it comes with the record.
    package var derivation: Derivation?
    /// How the value follows the record's creation through the queue; nil when it does not.
    package var follow: QueueFollowing?
    /// The value in a record created here, unless the caller gives one.
    package var initial: FieldDefault?
    /// A time that each local edit sets to the present, until the server sends a later one.
    package var isTouched = false
    /// Every value that is set here is sent, one after the other, because the server refuses to skip one.
    package var hasSteps = false
    /// The upstream takes it and never shows it.
    package var isWriteOnly = false
    /// A number or a boolean that the upstream writes and expects in quotes.
    package var isTextOnWire = false
    /// A name of several parts, such as `people/c12`, whose slashes stay in addresses.
    package var isPath = false
    /// How the upstream writes the day, such as the time at which it begins in UTC; nil for `2026-11-25`.
    package var dayFormat: TimeFormat?
    /// The form in which the upstream expects the time; nil if it takes the time as given. All forms here are ISO 8601, so
    /// reading needs none.
    package var timeFormat: TimeFormat?
    /// A new record is sent only after the new record that has the same value in this other field, because the server finds
    /// that one by the value.
    package var waitsFor: Other?
    /// Whether a field of another entity waits for this one.
    package var isWaitedFor = false

    /// Its value is the key of another record.
    package var isReference: Bool { if case .reference = kind { true } else { false } }

    /// Whether it is stored only encrypted.
    package var isStoredSealed: Bool { secret || sealed }

    /// The schema key that makes it so.
    var sealingWord: String { secret ? "secret" : "sealed" }

    /// The values of an enum; nil for other fields.
    package var enumValues: [String]? { if case .enum(let values) = kind { values.map(\.value) } else { nil } }

    /// The value under the field's own name or, when there is none, at its source.
    package func value(in record: JSONText) -> JSONText? { record[name] ?? source.flatMap { record.at(path: $0) } }

    /// The upstream's value in the field's own type: a number or a boolean without its quotes, a day in place of a time.
    package func meant(_ value: JSONText) -> JSONText {
        if let dayFormat { return dayFormat.day(in: value).map(JSONText.string) ?? value }
        guard isTextOnWire, let text = value.string, let bare = try? JSONText(parsing: text), isQuoted(bare) else {
            return value
        }
        return bare
    }

    /// The value as the upstream writes it: the reverse of `meant`.
    package func onWire(_ value: JSONText) -> JSONText {
        if let dayFormat { return dayFormat.json(ofDay: value) ?? value }
        if let timeFormat { return timeFormat.json(ofTime: value) ?? value }
        if let sentLink, value.kind == .string || value.kind == .number {
            return sentLink.filled { _ in Entity.percentEncoded(value.plain) }.map { .string($0) } ?? value
        }
        return isTextOnWire && isQuoted(value) ? .string(value.text) : value
    }

    private func isQuoted(_ value: JSONText) -> Bool { value.kind == (kind == .boolean ? .boolean : .number) }

    /// Computed locally: callers cannot write it and it is never sent.
    package var isDerivedHere: Bool { derivation != nil || follow != nil }

    /// Computed from the record's other fields on each read, and so stored only if the server sends it.
    package var isComputedOnReading: Bool {
        switch derivation {
        case .text, .test: true
        case .children, nil: false
        }
    }
}

/// A test on a field: its plain text is one of `values` or, with `excluded`, none of them. Null matches no value. A
/// list matches when one of its elements does.
package struct Condition: Sendable, Equatable {
    package var field: String
    package var values: [String]
    package var excluded: Bool

    /// The value that stands for the identity of the account that owns the records.
    package static let account = "$account"
}
