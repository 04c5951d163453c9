internal import EntitySchema
internal import GRDB
internal import JSONText
internal import Synchronization

/// The members that answers add to a record. An upstream may send members by these names, and a reader could take its
/// `_sync` for the daemon's: they are stored, and not shown.
///
/// Whether any record has had one is noted when it is written. As long as none has, showing records costs nothing.
final class AddedMembers: Sendable {
    static let names: Set<String> = ["_sync", "_include", "_labels", "_server"]

    private static let setting = "added_members"
    private static let places = JSONPlaces(names.sorted().map { [.member($0)] })

    private let isSeen = Atomic(false)

    /// Whether some record may have one.
    var mayBeSent: Bool { isSeen.load(ordering: .relaxed) }

    /// Call this for what the server says of a record, in the transaction that stores it.
    func note(_ record: JSONText, _ db: Database) throws {
        guard Self.mayHave(record), Self.removed(from: record) != record else { return }
        isSeen.store(true, ordering: .relaxed)
        try SettingTable(db: db).set(Self.setting, to: "1")
    }

    /// Call this when the database is opened. Looks once through the records of one that has no note yet.
    func load(_ schema: EntitySchema, _ db: Database) throws {
        let settings = SettingTable(db: db)
        if let known = try settings[Self.setting] {
            isSeen.store(known == "1", ordering: .relaxed)
            return
        }
        var isFound = false
        for entity in schema.entities where !isFound {
            isFound = try Bool.fetchOne(db, sql: Self.search(EntityTable(entity: entity))) ?? false
        }
        isSeen.store(isFound, ordering: .relaxed)
        try settings.set(Self.setting, to: isFound ? "1" : "0")
    }

    /// Has all records looked through at the next opening.
    static func forget(_ db: Database) throws { try SettingTable(db: db).remove(setting) }

    /// Whether a record has one of the names somewhere, or one that may be spelled with an escape.
    private static func search(_ table: EntityTable) -> String {
        let texts = names.sorted().map { "\"\($0)\"" } + ["\"\\u005"]
        let conditions = texts.map { "instr(_remote, '\($0)')" }.joined(separator: " OR ")
        return "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE \(conditions))"
    }

    /// The record without them. All else stays byte for byte.
    static func removed(from record: JSONText) -> JSONText {
        guard mayHave(record) else { return record }
        return record.replacing(places) { (_, _) -> JSONText? in nil }
    }

    /// Whether a text in the record begins as the names do: with `_`, or with an escape that may be one.
    private static func mayHave(_ record: JSONText) -> Bool {
        record.bytes.withUnsafeBufferPointer { text in
            guard text.count > 1, let byte = text.baseAddress else { return false }
            let next = byte + 1
            // Without branches, so that the compiler compares many bytes at once.
            var least = UInt8.max
            for index in 0..<(text.count - 1) {
                let start = min(next[index] ^ UInt8(ascii: "_"), next[index] ^ UInt8(ascii: "\\"))
                least = min(least, (byte[index] ^ UInt8(ascii: "\"")) | start)
            }
            return least == 0
        }
    }
}
