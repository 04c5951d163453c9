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

    /// `computed`: those of the table, if the caller has them already; making them takes as long as reading a record.
    init(
        _ table: EntityTable, labels: Bool = false, _ sealers: RecordSealers, computed: ComputedMembers? = nil
    ) {
        let sealer = sealers[table.entity.name]
        self.computed = computed ?? ComputedMembers(table.computedFields)
        self.labels = labels ? RecordLabels(table.entity) : nil
        self.sealer = sealer.opens ? sealer : nil
    }
}
