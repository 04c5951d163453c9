internal import EntitySchema
internal import JSONText

/// What a record needs besides its row to be shown: labels that were asked for, and sealed values in the clear.
struct RecordExtras {
    /// Nil to show no labels.
    let labels: RecordLabels?
    /// Nil when readers see nothing that is stored sealed.
    let sealer: RecordSealer?

    /// Nil for most entities and calls, which then pay nothing.
    init?(_ entity: Entity, labels: Bool = false, _ sealers: RecordSealers) {
        let sealer = sealers[entity.name]
        self.labels = labels ? RecordLabels(entity) : nil
        self.sealer = sealer.opens ? sealer : nil
        if !labels, !sealer.opens { return nil }
    }
}
