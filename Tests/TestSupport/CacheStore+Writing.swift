package import CacheStore
package import EntitySchema
package import JSONText

/// A transaction with one write.
extension CacheStore {
    package func create(
        _ entity: String, body: JSONText, at now: Timestamp, clockOffset: Duration = .zero
    ) async throws -> String {
        try await write(at: now, clockOffset: clockOffset) { try $0.create(entity, body) }
    }

    package func update(
        _ entity: String, key: String, body: JSONText, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) {
            try $0.update(entity, key: key, body, expecting: expected)
        }
    }

    package func delete(
        _ entity: String, key: String, expecting expected: ExpectedVersion = .any, at now: Timestamp,
        clockOffset: Duration = .zero
    ) async throws {
        try await write(at: now, clockOffset: clockOffset) { try $0.delete(entity, key: key, expecting: expected) }
    }

    package func retry(_ id: Int64?, at now: Timestamp) async throws -> Int {
        try await write(at: now) { try $0.retry(id) }
    }

    package func correct(
        _ id: Int64, setting fields: JSONText, removing removed: [String] = [], at now: Timestamp
    ) async throws {
        try await write(at: now) { try $0.correct(id, setting: fields, removing: removed) }
    }

    package func discard(_ id: Int64, cascade: Bool, at now: Timestamp) async throws {
        try await write(at: now) { try $0.discard(id, cascade: cascade) }
    }

    package func resolve(_ id: Int64, for winner: Conflict.Side, at now: Timestamp) async throws {
        try await write(at: now) { try $0.resolve(id, for: winner) }
    }

    package func undo(_ id: Int64, at now: Timestamp) async throws {
        try await write(at: now) { try $0.undo(id) }
    }
}
