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
}
