internal import EntitySchema
internal import JSONText

/// What a record needs besides its document to be shown: members that are computed on reading, labels that were asked for,
/// and sealed values in the clear.
///
/// A class only because each step of a read copies what holds it.
final class RecordExtras: Sendable {
    let computed: ComputedMembers
    /// Nil to show none; see `with(labels:of:)`.
    let labels: RecordLabels?
    /// Nil when readers see nothing that is stored sealed.
    let sealer: RecordSealer?
    let added: AddedMembers

    /// Takes as long as reading a record: `FixedQueries` keeps one for each entity.
    init(_ table: EntityTable, _ sealers: RecordSealers) {
        let sealer = sealers[table.entity.name]
        self.computed = ComputedMembers(table.computedFields, given: sealers.marks[table.entity.name]?.given)
        self.sealer = sealer.opens ? sealer : nil
        self.added = sealers.added
        labels = nil
    }

    private init(_ other: RecordExtras, _ labels: RecordLabels) {
        computed = other.computed
        sealer = other.sealer
        added = other.added
        self.labels = labels
    }

    /// The same, with the labels of the entity's enum values if they are asked for.
    func with(labels: Bool, of entity: Entity) -> RecordExtras {
        labels ? RecordExtras(self, RecordLabels(entity)) : self
    }
}
