/// Which records of one entity a list has, in what order, and what comes along.
///
///     client.orders.list(.where { $0.status == .ready && $0.total >= 150 }.sorted(by: \.createdAt, .descending))
public struct TypedQuery<Item: TypedRecord>: Sendable, Hashable {
    /// The same list by names.
    public var untyped = RecordQuery()

    /// All records.
    public static var all: TypedQuery { TypedQuery() }

    /// The records that meet a condition.
    public static func `where`(_ condition: (Filters<Item.Fields>) -> Condition) -> TypedQuery {
        all.filtered(by: condition)
    }

    /// A list by names.
    public init(_ untyped: RecordQuery = RecordQuery()) { self.untyped = untyped }

    /// The same list, of records that meet this condition, too.
    public func filtered(by condition: (Filters<Item.Fields>) -> Condition) -> TypedQuery {
        with { $0.conditions += condition(Filters()).parts }
    }

    /// The same list, of records with these words.
    public func searching(_ words: String) -> TypedQuery { with { $0.words = words } }

    /// The same list, of records in this state of syncing.
    public func inState(_ state: RecordState) -> TypedQuery { with { $0.state = state } }

    /// The same list sorted by this field, after those that were named before.
    public func sorted(
        by field: KeyPath<Item.Fields, some ListedField>, _ direction: SortDirection = .ascending
    ) -> TypedQuery {
        let name = Item.Fields(FieldScope(prefix: ""))[keyPath: field].name
        return with { $0.sort.append(direction == .descending ? "-\(name)" : name) }
    }

    /// The same list with related records: `\.client`, `\.devices.order`.
    public func including(_ relation: KeyPath<Item.Relations, some RecordRelations>) -> TypedQuery {
        let path = Item.Relations(RelationPath(text: ""))[keyPath: relation].path.text
        return with { $0.include.append(path) }
    }

    /// The same list on pages of this size.
    public func limited(to pageSize: Int) -> TypedQuery { with { $0.pageSize = pageSize } }

    /// The same list, with the number of all records.
    public func counted() -> TypedQuery { with { $0.hasTotal = true } }

    /// The same list, with labels: `order.record.label("status")`.
    public func labelled() -> TypedQuery { with { $0.hasLabels = true } }

    private func with(_ change: (inout RecordQuery) -> Void) -> TypedQuery {
        var copy = self
        change(&copy.untyped)
        return copy
    }
}

/// The direction of a sort.
public enum SortDirection: Sendable, Hashable {
    /// The least first.
    case ascending
    /// The greatest first.
    case descending
}

/// What a list filters by: the fields of its records, and those of the records that they refer to.
@dynamicMemberLookup
public struct Filters<Fields: RecordFields>: Sendable {
    /// A field of the records.
    public subscript<Member>(dynamicMember field: KeyPath<Fields, Member>) -> Member {
        Fields(FieldScope(prefix: ""))[keyPath: field]
    }

    /// The fields of the record that a relation leads to.
    public func related<Other: RecordFields>(_ relation: String) -> Other { Other(FieldScope(prefix: "\(relation).")) }
}
