/// One known field of an entity: what its values should be and how the cache treats them.
///
/// A record whose values do not fit is stored all the same; only local writes are held to this.
package struct Field: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case string, integer, number, money, boolean, time, object, list
        case `enum`([EnumValue])
        /// The key of a record of another entity.
        case reference(to: String)
    }

    package struct EnumValue: Sendable, Equatable {
        package var value: String
        package var display: String
    }

    /// How a field is found by full-text search.
    package enum Search: String, Sendable, Equatable, CaseIterable {
        /// By its words, each by its beginning too, accents and case aside.
        case words
        /// By any part of it, separators aside: telephone and serial numbers.
        case fragments
    }

    package var name: String
    package var kind: Kind
    /// Where in the upstream's record the value stands when there is no member of the field's own name.
    package var source: String?
    /// Filters and sorts on it use an index.
    package var indexed = false
    /// Nil when search does not look at it.
    package var search: Search?
    /// A record made locally must carry it.
    package var required = false
    /// Left out of everything that is shown, logged or indexed.
    package var secret = false
    /// A list whose elements are added and taken away one by one when both sides have changed it.
    package var mergesAsSet = false
    /// How the value is worked out here; nil where it is the record's own.
    package var derivation: Derivation?
    /// How the value follows the record's creation through the queue; nil where it does not.
    package var follow: QueueFollowing?

    /// Callers cannot write it and nobody sends it: its value is worked out here.
    package var isDerivedHere: Bool { derivation != nil || follow != nil }
}

/// The plain text of a field is one of `values`, or with `excluded` none of them; null is none of any. A list has a value
/// when one of its elements is it.
package struct Condition: Sendable, Equatable {
    package var field: String
    package var values: [String]
    package var excluded: Bool

    /// Stands among the values for the identity of the account whose records these are.
    package static let account = "$account"
}
