package import JSONText

/// One kind of record: its fields, its relations, and how it is pulled and pushed.
package struct Entity: Sendable, Equatable {
    package var name: String
    /// The field that identifies a record, locally and upstream.
    package var key: String
    /// What keys of records created here look like; nil for UUIDs.
    package var keyForm: KeyForm?
    /// Members that records get when they come from the upstream; nil if they have their key and all fields themselves.
    package var lift: Lift?
    package var fields: [Field]
    /// A record's display name: the first template that can be filled wins.
    package var titles: [Template]
    /// The default order of a list; the key orders equals.
    package var sort: [SortTerm]
    package var relations: [Relation]
    /// Nil when records only come with another entity's (`detail`).
    package var pull: PullPlan?
    /// Where the upstream lists what was deleted; nil if it has no such list.
    package var tombstones: TombstoneList?
    package var push: PushPlan
    /// Changes to records with the same value in this field are pushed in the order written. If it is a reference, or the
    /// entity's key, so are those of other entities that name a reference to the same entity here.
    package var orderWithin: String?
    /// Whether the later changes of such an order wait while one of this entity has failed.
    package var holdsUpWhenFailed = true
    package var conflict = ConflictPolicy.lastWriteWins
    /// Nil when records have only fields.
    package var content: ContentPlan?
    /// Local only: never pulled, never queued, never sent.
    package var isLocal = false
    /// Where records contain the secrets of embedded children.
    var embeddedSecretPlaces: [SecretPlace] = []
    /// Those of them that readers see: the children's field is sealed, and not secret.
    var shownEmbeddedPlaces: Set<SecretPlace> = []
    /// The relations of other entities to this one on which deletion or a computed field depends.
    package var ties: [Tie] = []

    /// The names with a dot in the paths of its requests: values of records that these refer to (`far`).
    package var farNames: [String] = []
    /// The fields besides the key that lead to a record upstream (`located`).
    package var addressFields: [String] = []
    /// The objects inside the upstream's records that fields are read from: `[properties]`, `[fields, customer]`.
    package var nests: Set<[String]> = []
    /// References to records that may have only one of these.
    package var singleReferences: [String] = []

    /// These records refer to those of another entity by `field`.
    package struct Tie: Sendable, Equatable {
        package var entity: String
        package var field: String
        /// What happens to these when the other record is deleted.
        package var onDelete: DeleteRule
        /// Whether a field of the other entity is computed from these.
        package var isCounted: Bool
    }

    package subscript(field name: String) -> Field? {
        // By index, because a walk over the fields copies each of them.
        for index in fields.indices where fields[index].name == name { return fields[index] }
        return nil
    }

    package subscript(relation name: String) -> Relation? { relations.first { $0.name == name } }

    /// When the upstream last sent a record: lists filter and sort by it as by a field.
    package static let syncedAt = Field(name: "synced_at", kind: .time)

    /// What lists filter and sort by under this name: a field, or `syncedAt` if there is no field of its name.
    package func listed(_ name: String) -> Field? {
        self[field: name] ?? (name == Self.syncedAt.name ? Self.syncedAt : nil)
    }

    /// Whether lists filter and sort by this name.
    package func isListed(_ name: String) -> Bool {
        fields.indices.contains { fields[$0].name == name } || name == Self.syncedAt.name
    }

    /// The fields by which people know a record.
    package var naturalFields: [Field] { fields.filter(\.isNatural) }

    /// The parts of an id of the form `order_number:1486`; nil for any other. An empty value names no record: it is what
    /// a script sends when a variable is not set.
    package func naturalKey(in id: String) -> (field: Field, value: String)? {
        // Most ids have none. In bytes: the same search by characters takes as long as reading a record.
        var bytes = id
        guard bytes.withUTF8({ $0.contains(UInt8(ascii: ":")) }),
            let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), let field = self[field: String(id[..<colon])],
            field.isNatural
        else { return nil }
        let value = String(id[id.index(after: colon)...])
        return value.isEmpty ? nil : (field, value)
    }

    /// Its fields that hold keys of other records.
    package var references: [(field: String, target: String)] {
        fields.compactMap { field in
            if case .reference(let target) = field.kind { (field.name, target) } else { nil }
        }
    }

    /// The fields that are computed locally.
    package var derivedFields: [Field] { fields.filter(\.isDerivedHere) }

    /// Those of them that are computed from the records of a `many` relation.
    package var figures: [Field] { fields.filter { if case .children = $0.derivation { true } else { false } } }
}

package struct SortTerm: Sendable, Hashable {
    package var field: String
    package var descending: Bool

    package init(field: String, descending: Bool) {
        self.field = field
        self.descending = descending
    }

    /// Reads `created_at` or `-created_at`.
    package init(text: String) {
        // In bytes, as below: by characters it takes as long as reading the record that it sorts.
        descending = text.utf8.first == UInt8(ascii: "-")
        field = descending ? String(Substring(text.utf8.dropFirst())) : text
    }

    /// Reads `-created_at,id`.
    package static func list(_ text: String) -> [SortTerm] {
        text.utf8.split(separator: UInt8(ascii: ",")).map { SortTerm(text: String(Substring($0))) }
    }

    /// As `init(text:)` reads it.
    package var text: String { descending ? "-\(field)" : field }
}

/// What happens to the records that refer to a deleted one.
package enum DeleteRule: String, Sendable, Equatable, CaseIterable {
    /// They stay as they are.
    case keep
    /// They are deleted too.
    case cascade
    /// Their reference becomes null.
    case nullify
    /// While there are any, the record cannot be deleted locally.
    case deny
}

/// How records of one entity refer to records of another.
package struct Relation: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// `field` of this entity holds the other's key.
        case one(field: String)
        /// `field` of the other entity holds this one's key.
        case many(field: String, onDelete: DeleteRule)
    }

    package var name: String
    package var entity: String
    package var kind: Kind
    /// Of a `many` relation: no record may have more than one by a local write.
    package var isSingle = false
    /// For a `many` relation: whether the schema sets `on_delete`.
    package var isRuled = false

    package var isMany: Bool { if case .many = kind { true } else { false } }

    /// What a reference's relation is called if the schema names none: as the field, without `_id`.
    package static func name(ofReference field: String) -> String {
        field.hasSuffix("_id") ? String(field.dropLast(3)) : field
    }
}

/// What the schema says about the contents of one record.
extension Entity {
    /// A field's value: the member of its name or, when there is none, the value at the field's source.
    package func value(of field: String, in record: JSONText) -> JSONText? {
        let own = record[field]
        if let own, own.kind != .null { return own }
        guard let field = self[field: field] else { return own }
        // A null counts as a value, except where one is computed in its place.
        if let own, !field.isComputedOnReading { return own }
        if let value = field.source.flatMap({ record.at(path: $0) }) { return value }
        // Nothing is derived from a derived field, so this goes no deeper.
        return field.derivation?.own { value(of: $0, in: record) }
    }

    /// See `nests`.
    var objectsWithFields: Set<[String]> {
        var nests: Set<[String]> = []
        for field in fields {
            let steps = field.source.map(JSONPath.steps)?.map(String.init) ?? []
            for count in steps.indices.dropFirst() { nests.insert(Array(steps[..<count])) }
        }
        return nests
    }

    /// Whether the upstream has marked the record as deleted (`pull.deleted`).
    package func isDeleted(_ record: JSONText) -> Bool {
        guard let mark = pull?.deleted else { return false }
        return mark.isSet(by: record[mark.name] ?? deletionPlace.flatMap { record.at(path: $0) })
    }

    /// Where a record has the mark of its deletion, if no member has the mark's name.
    package var deletionPlace: String? {
        pull?.deleted.flatMap { mark in mark.place ?? self[field: mark.name]?.source }
    }

    /// A key for a record that is created here, made of a random text.
    package func madeKey(from random: String) -> String { keyForm?.key(from: random) ?? random }

    /// When the upstream changed this version of a record, if it says so (`pull.since`).
    package func changeTime(of record: JSONText) -> Timestamp? {
        pull?.changedAt.flatMap { value(of: $0, in: record) }.flatMap(instant)
    }

    /// The value by which the changes of a record are ordered; nil without `orderWithin`, or if the record has no value there.
    package func orderGroup(of key: String, in record: JSONText) -> String? {
        guard let name = orderWithin else { return nil }
        guard name != self.key else { return key }
        return value(of: name, in: record).map(\.plain).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The time in a value that says when something changed or was deleted.
    package func instant(_ value: JSONText) -> Timestamp? { value.changeTime(clock: pull?.clock ?? .zero) }

    /// The record's display name; its key when no title template can be filled without a secret field.
    package func title(of record: JSONText) -> String {
        for title in titles {
            let text = title.filled { self[field: $0]?.isStoredSealed == true ? nil : value(of: $0, in: record)?.plain }
            if let text { return text }
        }
        return record[key]?.plain ?? ""
    }
}
