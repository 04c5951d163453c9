internal import EntitySchema
internal import Foundation
internal import GRDB
internal import SQLiteStore

/// The queue alone, as a file that another machine can import.
///
/// One JSON object a line: first the origin, then each change. Secrets stay sealed, so the importing machine needs the
/// key that they were sealed with.
package struct ExportedQueue: Sendable {
    package struct Origin: Codable, Sendable, Equatable {
        var format = 1
        package var schema: String
        package var upstream: String
        package var account: String?
        /// The settings needed to read the changes: the key's mark, the sealed places with their proofs, the database's
        /// name.
        var settings: [String: String]

        enum CodingKeys: String, CodingKey {
            case format = "repairminder_sync_queue"
            case schema, upstream, account, settings
        }
    }

    package var origin: Origin
    package var changes: [ExportedChange]

    /// Reads the queue of a database that nothing writes to. Throws `.damaged` if it cannot be read completely.
    package init(ofDatabaseAt path: String) throws {
        let reading: QueueSnapshot
        do {
            reading = try DatabaseFile.openReadOnly(path).read { db in
                let reading = QueueSnapshot(db)
                if !reading.isComplete { try Self.requireShortValues(db) }
                return reading
            }
        } catch {
            throw CacheError.classified(error)
        }
        guard reading.isComplete else {
            throw CacheError.damaged("the queue in \(path) cannot be read; start the daemon to rescue it")
        }
        let settings = reading.settings
        origin = Origin(
            schema: settings["schema"] ?? "", upstream: settings["upstream"] ?? "", account: settings["account"],
            settings: settings.filter { name, _ in SealedPlaces.isPart(name) })
        changes = reading.changes
    }

    /// Throws SQLite's error if a value is too long to be read: the daemon would not rescue the queue because of it.
    private static func requireShortValues(_ db: Database) throws {
        do {
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM sync_outbox")
            while try rows.next() != nil {}
        } catch let error as DatabaseError where error.resultCode != .SQLITE_TOOBIG {}
    }

    // MARK: As text

    /// Throws `.invalid` for text that is not an exported queue.
    package init(text: String) throws {
        let lines = text.split(separator: "\n")
        func decoded<Value: Decodable>(_ line: Substring?, _ number: Int) throws -> Value {
            do {
                return try JSONDecoder().decode(Value.self, from: Data((line ?? "").utf8))
            } catch {
                throw CacheError.invalid([
                    FieldProblem(field: "line \(number)", message: "not a line of queue export")
                ])
            }
        }
        origin = try decoded(lines.first, 1)
        guard origin.format == 1 else {
            throw CacheError.incompatible(
                "the file was written by a newer version of repairminder-sync; install that version")
        }
        guard SealedPlaces.areReadable(in: origin.settings) else {
            throw CacheError.invalid([
                FieldProblem(field: "line 1", message: "the list of sealed fields cannot be read")
            ])
        }
        changes = try zip(2..., lines.dropFirst()).map { number, line in
            let change: ExportedChange = try decoded(line, number)
            if let problem = change.problem {
                throw CacheError.invalid([FieldProblem(field: "line \(number)", message: problem)])
            }
            return change
        }
    }

    package func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try [encoder.encode(origin)] + changes.map { try encoder.encode($0) }
        return lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    }
}
