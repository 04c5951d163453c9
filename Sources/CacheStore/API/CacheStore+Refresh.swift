package import EntitySchema
internal import GRDB
package import JSONText

/// Looks up what the cache has of a record before it is requested, and handles one that the server no longer has.
extension CacheStore {
    package enum RemoteState: Sendable, Equatable {
        /// Not cached; the upstream may have it.
        case unknown
        /// The server's last version without secrets, and the record's current key.
        case known(key: String, remote: JSONText)
        /// Created locally and not sent yet, or deleted locally: the upstream knows nothing of it.
        case local
    }

    package func remoteState(of key: String, _ entity: String) throws -> RemoteState {
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

    /// The server's last version, without secrets, of the newest other record of the entity; nil when there is none.
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

    /// Deletes a record that the server no longer has, as a pull would: with everything that cascades from it, while
    /// queued changes become a conflict.
    ///
    /// `position`: the end of the change log when the server was asked; later acknowledgements win.
    package func forget(_ entity: String, key: String, position: Int64, at now: Timestamp) async throws {
        let table = try table(entity)
        try await change(at: now) { context in
            let acknowledged = try Int64.fetchOne(
                context.db.cachedStatement(
                    sql: "SELECT coalesce(_acknowledged, 0) FROM \(table.name) WHERE _key = ? AND _remote IS NOT NULL"),
                arguments: [key])
            guard let acknowledged, acknowledged <= position, try !context.newKeys(of: entity).contains(key) else {
                return
            }
            _ = try PageApplier(table: table, context: context).delete(keys: [key])
        }
    }
}
