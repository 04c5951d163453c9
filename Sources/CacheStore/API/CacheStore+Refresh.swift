package import EntitySchema
internal import GRDB
package import JSONText

/// What is known here of one record that the upstream is to be asked for, and what a missing one means.
extension CacheStore {
    package enum Standing: Sendable, Equatable {
        /// Not here; the upstream may have it.
        case unknown
        /// As the server last said it, without its secrets, under the key that it has now.
        case known(key: String, remote: JSONText)
        /// Made here and not there yet, or deleted here: the upstream has nothing to say.
        case local
    }

    package func standing(of key: String, _ entity: String) throws -> Standing {
        let table = try table(entity)
        return try snapshot { db in
            let current = try KeyAlias.current(of: key, entity, db)
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT _remote, _deleted FROM \(table.name) WHERE _key = ?"),
                arguments: [current])
            guard let row else { return .unknown }
            guard let remote: String = row[0], row[1] == false else { return .local }
            return .known(key: current, remote: sealers[entity].remove(from: try JSONText(parsing: remote)))
        }
    }

    /// What the server last said, without secrets, of some other record of the entity, the youngest; nil when there is none.
    package func anotherRecord(of entity: String, than key: String) throws -> JSONText? {
        let table = try table(entity)
        return try read { db in
            try String.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT _remote FROM \(table.name)
                        WHERE _remote IS NOT NULL AND _deleted = 0 AND _key <> ? ORDER BY _pk DESC LIMIT 1
                        """),
                arguments: [key]
            ).map { sealers[entity].remove(from: try JSONText(parsing: $0)) }
        }
    }

    /// Deletes a record that the server has no more, as a pull that found it gone would: what cascades from it goes too, and
    /// queued changes of it are a conflict.
    ///
    /// `position`: where the change log ended when the server was asked; what was acknowledged since stays.
    package func forget(_ entity: String, key: String, position: Int64, at now: Timestamp) async throws {
        let table = try table(entity)
        try await change(at: now) { db in
            let acknowledged = try Int64.fetchOne(
                db.cachedStatement(
                    sql: "SELECT coalesce(_acknowledged, 0) FROM \(table.name) WHERE _key = ? AND _remote IS NOT NULL"),
                arguments: [key])
            guard let acknowledged, acknowledged <= position else { return }
            _ = try PageApplier(table: table, context: context(db, at: now)).delete(keys: [key])
        }
    }
}
