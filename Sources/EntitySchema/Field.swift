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

    package var name: String
    package var kind: Kind
    /// Where in the upstream's record the value stands when there is no member of the field's own name.
    package var source: String?
    /// Filters and sorts on it use an index.
    package var indexed = false
    /// A record made locally must carry it.
    package var required = false
    /// Left out of everything that is shown, logged or indexed.
    package var secret = false
}
