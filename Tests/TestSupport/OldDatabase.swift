package import CacheStore
package import EntitySchema
internal import Foundation
internal import ReferenceUpstream
internal import Secrets

/// A kept database of an older version, and what that version answered for it. `Tests/CacheStoreTests/Fixtures/make`
/// made it: with every kind of field, and with records, changes and reminders in every state.
package struct OldDatabase {
    /// A question to the local API and its answer.
    package struct Answer: Decodable, Sendable {
        package var path: String
        package var status: Int
        package var etag: String?
        /// The whole answer.
        package var text: String?
        /// Of a list: the value of one field in each record, page by page.
        package var keys: [[Key]]?
    }

    /// The value of a field that identifies a record, as JSON text.
    package struct Key: Decodable, Sendable, Equatable, CustomStringConvertible {
        package var description: String

        package init(_ text: String) { description = text }

        package init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            description = try (try? value.decode(Int64.self)).map(String.init) ?? value.decode(String.self)
        }
    }

    /// A write that was made under an Idempotency-Key, and its answer.
    package struct Call: Decodable, Sendable {
        package var method: String
        package var path: String
        package var body: String?
        package var key: String
        package var status: Int
        package var text: String
    }

    package struct View: Decodable, Sendable {
        package var key: String
        package var columns: [String]
        /// Values as SQL literals, in the order of the keys.
        package var rows: [[String]]
    }

    /// An entity's row of `sync_cursor`.
    package struct Cursor: Decodable, Sendable {
        package var entity: String
        package var watermark: String?
        /// The pull under way as JSON.
        package var pull: String?
        package var last_synced_at: Int64?
        package var last_full_at: Int64?
        package var lateness: Int64
        package var held_deletions: Int
        package var error: String?
    }

    package struct Expectations: Decodable, Sendable {
        /// When the answers were written down.
        package var clock: String
        /// Of the status.
        package var counts: [String: Int]
        package var rows: [String: Int]
        package var repeated: [Call]
        /// The answer of `/v1/changes?since=0`.
        package var changes: String
        /// The output of `queue export`.
        package var queue: String
        package var views: [String: View]
        /// Photo → the hash of its content.
        package var contents: [String: String?]
        package var cursors: [Cursor]
        /// Table → the last id that AUTOINCREMENT gave.
        package var last_ids: [String: Int64]
    }

    package let folder: TemporaryFolder
    package let schema: EntitySchema
    private let name: String

    /// Puts a copy of the database into a temporary folder.
    package init(_ name: String = "0.1.0") throws {
        self.name = name
        folder = try TemporaryFolder()
        let file = Self.file("workshop.yaml")
        schema = try EntitySchema(yaml: String(contentsOf: file, encoding: .utf8), file: file.path)
        try Self.unpacked("\(name).db").write(to: URL(filePath: path))
    }

    package var path: String { folder.path("cache.db") }

    /// Opens the copy as the older daemon's configuration would: the key of its secrets is one byte repeated, and a
    /// date means nine o'clock, in a time zone that the daemon called GMT. `goesOn`: see `CacheStore`.
    package func open(goesOn: @escaping @Sendable () -> Bool = { true }) throws -> CacheStore {
        let days = ReminderDays(name: "GMT 9") { date in Timestamp(iso8601: date).map { $0 + .seconds(9 * 3600) } }
        return try CacheStore(
            path: path, schema: schema, sealer: SecretSealer.sample(), settings: CacheSettings(reminderDays: days),
            watch: OpeningWatch(goesOn: goesOn)
        ) {
            withExtendedLifetime(folder) { UUID().uuidString }
        }
    }

    package func answers() throws -> [Answer] {
        try Self.unpacked("\(name).answers").split(separator: UInt8(ascii: "\n")).map { line in
            try JSONDecoder().decode(Answer.self, from: line)
        }
    }

    package func expectations() throws -> Expectations {
        try JSONDecoder().decode(Expectations.self, from: Self.unpacked("\(name).json"))
    }

    private static func unpacked(_ name: String) throws -> Data {
        Data(try GzipFile.read(file("\(name).gz").path))
    }

    private static func file(_ name: String) -> URL {
        ProjectFiles.root.appending(path: "Tests/CacheStoreTests/Fixtures/\(name)")
    }
}
