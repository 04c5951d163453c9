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
        /// The name of a picture that stands for the value in the reader's set of icons.
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
    /// Filters and sorts on it use an index.
    package var indexed = false
    /// People know a record by it, such as an order by its number: requests may name it instead of the key.
    package var isNatural = false
    /// Nil when search ignores it.
    package var search: Search?
    /// A record created locally must have it.
    package var required = false
    /// Left out of everything that is shown, logged or indexed.
    package var secret = false
    /// Stored only encrypted, and shown to callers.
    package var sealed = false
    /// A list whose elements are added and removed one by one when both sides have changed it.
    package var mergesAsSet = false
    /// How the value is computed locally; nil when it is the record's own.
    package var derivation: Derivation?
    /// How the value follows the record's creation through the queue; nil when it does not.
    package var follow: QueueFollowing?
    /// What the field of a record created here is, if the caller does not say.
    package var initial: FieldDefault?
    /// A time that moves to each local edit, until the server says a later one.
    package var isTouched = false
    /// Each value that it is given here is sent, one after the other: the server refuses to skip one.
    package var hasSteps = false
    /// A number or a boolean that the upstream writes in quotes, and so takes.
    package var isTextOnWire = false
    /// How the upstream writes the day, if not as `2026-11-25`: as the time at which it begins in UTC, or in other parts.
    package var dayFormat: TimeFormat?
    /// How the upstream takes the time, if not as it was given. It is a form of ISO 8601, so that reading needs no form.
    package var timeFormat: TimeFormat?
    /// A new record is sent after the new record that has the same value there: the server joins the two by it.
    package var waitsFor: Other?

    /// Whether it is stored only encrypted.
    package var isStoredSealed: Bool { secret || sealed }

    /// The word in a schema that has it stored encrypted.
    var sealingWord: String { secret ? "secret" : "sealed" }

    /// What the field may be, if it is an enum.
    package var enumValues: [String]? {
        if case .enum(let values) = kind { values.map(\.value) } else { nil }
    }

    /// The value under the field's own name or, when there is none, at its source.
    package func value(in record: JSONText) -> JSONText? {
        record[name] ?? source.flatMap { record.at(path: $0) }
    }

    /// A value as people mean it: a number or a boolean, where the upstream has it in quotes; a day, where it has a time.
    package func meant(_ value: JSONText) -> JSONText {
        if let dayFormat { return dayFormat.day(in: value).map(JSONText.string) ?? value }
        guard isTextOnWire, let text = value.string, let bare = try? JSONText(parsing: text), isQuoted(bare) else {
            return value
        }
        return bare
    }

    /// A value as the upstream has it.
    package func onWire(_ value: JSONText) -> JSONText {
        if let dayFormat { return dayFormat.json(ofDay: value) ?? value }
        if let timeFormat { return timeFormat.json(ofTime: value) ?? value }
        return isTextOnWire && isQuoted(value) ? .string(value.text) : value
    }

    private func isQuoted(_ value: JSONText) -> Bool { value.kind == (kind == .boolean ? .boolean : .number) }

    /// Computed locally: callers cannot write it and it is never sent.
    package var isDerivedHere: Bool { derivation != nil || follow != nil }

    /// Computed from the record's own fields alone: no document holds it, unless the server sends it.
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

    /// As a value, the identity of the account that owns the records.
    package static let account = "$account"
}
