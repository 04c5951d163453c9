internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Walks over one entity's records in batches and compares each row with what follows from its texts, the queue and
/// other records.
struct RecordCheck {
    private static let batch = 500

    private let plan: RecordPlan
    private let db: Database
    private let columns: ColumnCheck
    private let overlays: OverlayCheck
    /// None while they wait for the end of a load.
    private let figures: [RelationAggregates]?
    private let writer: RecordWriter

    init(plan: RecordPlan, plans: RecordPlans, db: Database) throws {
        self.plan = plan
        self.db = db
        columns = try ColumnCheck(plan: plan, db: db)
        overlays = try OverlayCheck(table: plan.table, db: db)
        let postponed = PostponedFigures(plan.table, in: plans.schema, db)
        figures = try postponed.areOutdated() ? nil : postponed.figures
        writer = RecordWriter(plan: plan, transaction: RecordTransaction(db, plans))
    }

    func run(_ found: inout Inconsistencies) throws {
        var last = Int64.min
        while !found.isFull {
            let images = try writer.images(after: last, limit: Self.batch)
            guard let end = images.last else { break }
            for image in images { try columns.compare(image, &found) }
            try overlays.compare(images, &found)
            try compareDerived(images, &found)
            last = end.pk
        }
        try overlays.findChangesWithoutRecord(&found)
    }

    private func compareDerived(_ images: [RecordImage], _ found: inout Inconsistencies) throws {
        guard let figures else { return }
        try RelationAggregates.forEachPart(of: images, figures, db) { compareDerived($0, $1, &found) }
    }

    private func compareDerived(
        _ images: ArraySlice<RecordImage>, _ expected: [ExactText: JSONText], _ found: inout Inconsistencies
    ) {
        for image in images where image.derived != expected[image.key.exact] {
            let (known, members) = (image.derived?.members ?? [], expected[image.key.exact]?.members ?? [])
            let names = plan.entity.derivedFields.map(\.name).filter { name in
                known.first { $0.key == name }?.value != members.first { $0.key == name }?.value
            }
            let fields = names.isEmpty ? "its derived fields" : names.joined(separator: ", ")
            found.add(
                .derived, "\(plan.entity.name)/\(image.key)",
                "\(fields) differs from what its related records give")
        }
    }
}
