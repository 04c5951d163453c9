internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// The UPDATE of one row that sets only the columns that differ: SQLite then leaves all other indexes alone.
struct RecordUpdate {
    /// The table's own columns that a change sets, by bit; the columns of fields follow.
    private enum Part: Int {
        case key, remote, origin, local, document, derived, deleted, displaced

        static let count = 8
    }

    private let new: RecordImage
    private let origin: RecordWriter.Origin?
    private let plan: RecordPlan
    /// The columns to set, one bit each; those beyond the 63rd share one.
    private var parts: UInt64 = 0

    var isEmpty: Bool { parts == 0 }

    /// `changed`: the watched fields that differ.
    init(
        _ old: RecordImage, _ new: RecordImage, _ origin: RecordWriter.Origin?, _ changed: RecordPlan.Fields,
        _ plan: RecordPlan
    ) {
        self.new = new
        self.origin = origin
        self.plan = plan
        add(.key, old.key.exact != new.key.exact)
        add(.remote, old.remote != new.remote)
        add(.origin, origin != nil)
        add(.local, old.local != new.local)
        add(.document, old.whole != new.whole)
        add(.derived, old.derived != new.derived)
        add(.deleted, old.isDeleted != new.isDeleted)
        add(.displaced, old.isDisplaced != new.isDisplaced)
        for (index, field) in plan.columnFields.enumerated() where changed & RecordPlan.bit(field.place) != 0 {
            parts |= Self.bit(index)
        }
    }

    private mutating func add(_ part: Part, _ differs: Bool) { if differs { parts |= 1 << UInt64(part.rawValue) } }

    private func has(_ part: Part) -> Bool { parts & 1 << UInt64(part.rawValue) != 0 }

    /// Whether there are so many watched fields that some share a bit.
    static func sharesBits(fields: Int) -> Bool { Part.count + fields > 63 }

    private static func bit(_ column: Int) -> UInt64 { 1 << UInt64(min(Part.count + column, 63)) }

    /// `values`: those of the watched fields.
    func run(_ values: [JSONText?], _ transaction: RecordTransaction) throws {
        guard !isEmpty else { return }
        if let sql = plan.statements.updates.statement(setting: parts, { sql }) {
            try transaction.with(sql) { statement in
                try bind(values, to: statement)
                try statement.run()
            }
        } else {
            let statement = BoundStatement(try transaction.db.cachedStatement(sql: sql))
            try bind(values, to: statement)
            try statement.runOnce()
        }
    }

    private func bind(_ values: [JSONText?], to statement: BoundStatement) throws {
        try statement.bind(new.pk, to: 1)
        if has(.key) { try statement.bind(new.key, to: 2) }
        if has(.remote) { try statement.bind(new.remote, to: 3) }
        if has(.origin) {
            try statement.bind(origin?.version, to: 4)
            try statement.bind(origin?.at.milliseconds, to: 5)
        }
        if has(.local) { try statement.bind(new.local, to: 6) }
        if has(.document) { try statement.bind(new.whole, to: 7) }
        if has(.derived) { try statement.bind(new.derived, to: 8) }
        if has(.deleted) { try statement.bind(new.isDeleted ? 1 : 0 as Int64, to: 9) }
        if has(.displaced) { try statement.bind(new.isDisplaced ? 1 : 0 as Int64, to: 10) }
        for (index, field) in plan.columnFields.enumerated() where parts & Self.bit(index) != 0 {
            try statement.bind(ColumnValue(values[field.place], as: field.kind), to: Int32(index + 11))
        }
    }

    private var sql: String {
        var sets: [String] = []
        if has(.key) { sets.append("_key = ?2") }
        if has(.remote) { sets.append("_remote = ?3") }
        if has(.origin) { sets.append("_version = ?4, _gone = 0, _synced_at = ?5") }
        if has(.local) { sets.append("_local = ?6") }
        if has(.document) { sets.append("_document = ?7") }
        if has(.derived) { sets.append("_derived = ?8") }
        if has(.deleted) { sets.append("_deleted = ?9") }
        if has(.displaced) { sets.append("_displaced = ?10") }
        for (index, column) in plan.columns.enumerated() where parts & Self.bit(index) != 0 {
            sets.append("\"\(column.name)\" = ?\(index + 11)")
        }
        return "UPDATE \(plan.table.name) SET \(sets.joined(separator: ", ")) WHERE _pk = ?1"
    }
}
