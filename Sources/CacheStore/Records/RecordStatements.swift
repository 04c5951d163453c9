internal import SQLiteStore
internal import Synchronization

/// The statements by which one entity's records are written, kept prepared by number.
struct RecordStatements: Sendable {
    /// A row by its key: the columns of `RecordImage`, and the position of its last acknowledgement.
    let find: NumberedSQL
    let insert: NumberedSQL
    let delete: NumberedSQL
    let updates: RecordUpdateStatements

    init(_ table: EntityTable, _ numbers: inout StatementNumbers) {
        find = numbers.next(
            "SELECT \(RecordImage.columns), coalesce(_acknowledged, 0) FROM \(table.name) WHERE _key = ?")
        let names = ["_pk", "_key", "_remote", "_synced_at", "_version"] + table.columns.map { "\"\($0.name)\"" }
        let marks = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        insert = numbers.next(
            """
            INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(marks)) ON CONFLICT DO NOTHING
            """)
        delete = numbers.next("DELETE FROM \(table.name) WHERE _pk = ?")
        updates = RecordUpdateStatements(&numbers)
    }
}

/// The UPDATE statements of one entity, by the columns that they set. Few of all possible ones ever occur.
final class RecordUpdateStatements: Sendable {
    private static let most = 64

    private let known: Mutex<(numbers: StatementNumbers, statements: [UInt64: NumberedSQL])>

    init(_ numbers: inout StatementNumbers) { known = Mutex((numbers.reserve(Self.most), [:])) }

    /// Nil when there are too many already. `text` is called for the first use.
    func statement(setting parts: UInt64, _ text: () -> String) -> NumberedSQL? {
        known.withLock { known in
            if let statement = known.statements[parts] { return statement }
            guard known.statements.count < Self.most else { return nil }
            let statement = known.numbers.next(text())
            known.statements[parts] = statement
            return statement
        }
    }
}
