internal import EntitySchema
internal import JSONText

/// What a record needs besides its document to be shown: members that are computed on reading, labels that were asked for,
/// and sealed values in the clear.
struct RecordExtras {
    let computed: ComputedMembers
    /// Nil to show no labels.
    let labels: RecordLabels?
    /// Nil when readers see nothing that is stored sealed.
    let sealer: RecordSealer?

    init(_ table: EntityTable, labels: Bool = false, _ sealers: RecordSealers) {
        let sealer = sealers[table.entity.name]
        computed = ComputedMembers(table.computedFields)
        self.labels = labels ? RecordLabels(table.entity) : nil
        self.sealer = sealer.opens ? sealer : nil
    }
}
