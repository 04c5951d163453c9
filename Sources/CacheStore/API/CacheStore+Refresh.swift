package import EntitySchema
internal import GRDB
package import JSONText
internal import SQLiteStore

/// Why a record that the cache does not have counts as one that does not exist.
package enum KnownAbsence: Sendable, Equatable {
    /// It was deleted here, and the upstream does not know yet.
    case deletedHere
    /// Its entity is kept on this machine only.
    case localOnly
    /// The whole list lacked it, and the upstream cannot be asked for it by itself: it may only be newer than that list.
    case unlisted
}

/// Looks up what the cache has of a record before it is requested, and what can show that the upstream is well.
extension CacheStore {
    package enum RemoteState: Sendable, Equatable {
        /// Not cached; the upstream may have it, under this key.
        case unknown(key: String)
        /// The server's last version without secrets, and the record's current key.
        case known(key: String, remote: JSONText)
        /// Created locally and not sent yet, or deleted locally: the upstream knows nothing of it.
        case local
    }

    package func remoteState(of key: String, _ entity: String) throws -> RemoteState {
        try snapshot { db in try remoteState(of: key, entity, db) }
    }

    private func remoteState(of key: String, _ entity: String, _ db: Database) throws -> RemoteState {
        let table = try table(entity)
        let current = try KeyAlias.current(of: key, entity, db)
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT _remote, _deleted FROM \(table.name) WHERE _key = ?"),
            arguments: [current])
        guard let row else { return .unknown(key: current) }
        guard let remote: String = row[0], row[1] == false else { return .local }
        return .known(key: current, remote: sealers[entity].withoutSealed(try JSONText(parsing: remote)))
    }

    /// Why a record that the cache does not have counts as absent; nil if the upstream may be asked for it, or if its
    /// list has not been read yet.
    package func absence(of key: String, _ entity: String) throws -> KnownAbsence? {
        try snapshot { db in try absence(of: key, entity, db) }
    }

    /// The same inside the caller's transaction.
    func absence(of key: String, _ entity: String, _ db: Database) throws -> KnownAbsence? {
        guard let known = schema[entity] else { throw CacheError.notFound("no entity \(entity)") }
        if known.isLocal { return .localOnly }
        switch try remoteState(of: key, entity, db) {
        case .local: return .deletedHere
        case .known: return nil
        case .unknown(let current):
            if let natural = known.naturalKey(in: current),
                let isDeleted = try NaturalKeyQuery(entity: known, db: db).isDeletedHere(natural.field, natural.value)
            {
                return isDeleted ? .deletedHere : nil
            }
            return try isUnlisted(current, known, db) ? .unlisted : nil
        }
    }

    /// Whether only a list could show the record, as one that is named by a natural key, and that list has been read
    /// completely. One that is limited by `where` leaves out records that exist.
    private func isUnlisted(_ key: String, _ entity: Entity, _ db: Database) throws -> Bool {
        let path = entity.recordPath(of: .object([entity.key: entity.keyValue(key)]))
        guard path == nil || entity.naturalKey(in: key) != nil else { return false }
        let pulls = schema.entities.compactMap { lister in
            lister.pull.flatMap { pull in
                lister.name == entity.name || pull.details.contains { $0.entity == entity.name } ? pull : nil
            }
        }
        guard !pulls.isEmpty, pulls.allSatisfy({ $0.window == nil }),
            try Row.fetchOne(db, sql: LoadedCondition(entity: entity, schema: schema).sql) != nil
        else { return false }
        return try !hasUnknownRecords(entity, db)
    }

    /// Whether the list has records of which the cache cannot tell whether one is meant: without a usable key, or with a
    /// natural key that may come with a call for each record, which has not been made yet.
    private func hasUnknownRecords(_ entity: Entity, _ db: Database) throws -> Bool {
        let aside = "SELECT 1 FROM sync_set_aside WHERE entity = ? LIMIT 1"
        if try Row.fetchOne(db, sql: aside, arguments: [entity.name]) != nil { return true }
        guard let fetch = entity.pull?.fetch, fetch.isSingle else { return false }
        let table = EntityTable(entity: entity)
        let unread = "SELECT 1 FROM \(table.name) WHERE \(table.outdated(fetch)) AND _detail IS NULL LIMIT 1"
        return try Row.fetchOne(db, sql: unread) != nil
    }

    /// The server's last version, without secrets, of the newest other record of the entity that the server has shown;
    /// nil when there is none. One that was never changed here is certainly the server's.
    package func anotherRecord(of entity: String, than keys: [String]) throws -> JSONText? {
        let table = try table(entity)
        return try read { db in
            func newest(_ condition: String) throws -> String? {
                try String.fetchOne(
                    db.cachedStatement(sql: Self.newestSQL(of: table, condition)),
                    arguments: [JSONText.array(of: keys).text, entity])
            }
            return try (newest("_acknowledged IS NULL") ?? newest("_acknowledged IS NOT NULL")).map {
                sealers[entity].withoutSealed(try JSONText(parsing: $0))
            }
        }
    }

    /// The newest record of ?2 that is not among the keys ?1, and that the server is known to have.
    private static func newestSQL(of table: EntityTable, _ condition: String) -> String {
        """
        SELECT _remote FROM \(table.name)
        WHERE _remote IS NOT NULL AND _deleted = 0 AND _key NOT IN (SELECT value FROM json_each(?1))
          AND \(condition)
          AND _key NOT IN (SELECT record_key FROM sync_settling WHERE entity = ?2 AND confirmed = 0)
          AND NOT EXISTS (
            SELECT 1 FROM sync_conflict
            WHERE entity = ?2 AND record_key = _key AND winner IS NULL AND field IS NULL)
        ORDER BY _pk DESC LIMIT 1
        """
    }

    /// The server's last version, without secrets, of one of `parents` other than `keys` that has children in the cache
    /// which the server has shown; nil when there is none. `by`: the field of the children that holds its key.
    package func anotherParent(
        _ parents: String, than keys: [String], of children: String, by: String
    ) throws -> JSONText? {
        let table = try table(parents)
        let childTable = try self.table(children)
        return try read { db in
            try String.fetchOne(
                db.cachedStatement(sql: Self.newestParentSQL(in: table, of: childTable, by: by)),
                arguments: [JSONText.array(of: keys).text, children]
            ).map { sealers[parents].withoutSealed(try JSONText(parsing: $0)) }
        }
    }

    /// The newest parent that is not among the keys ?1 and that has a child of the entity ?2 which the server has shown.
    private static func newestParentSQL(
        in table: EntityTable, of children: EntityTable, by field: String
    ) -> String {
        """
        SELECT _remote FROM \(table.name) AS parent
        WHERE _remote IS NOT NULL AND _deleted = 0 AND _key NOT IN (SELECT value FROM json_each(?1))
          AND EXISTS (
            SELECT 1 FROM \(children.name) AS child
            WHERE \(children.sql(for: field, of: "child.")) = parent._key
              AND child._remote IS NOT NULL AND child._deleted = 0
              AND child._key NOT IN (SELECT record_key FROM sync_settling WHERE entity = ?2 AND confirmed = 0))
        ORDER BY _pk DESC LIMIT 1
        """
    }
}

/// Where the upstream may have a record whose address was changed here.
extension CacheStore {
    /// A record is not looked for at more addresses than these.
    private static let mostAddresses = 3

    /// The other addresses of a record, as records with the values that lead there: those to which attempts without a known
    /// outcome may have moved it, and those from which accepted changes have moved it, while the upstream may be behind.
    package func otherAddresses(of known: JSONText, _ entity: Entity) throws -> [JSONText] {
        guard !entity.addressFields.isEmpty, let key = known[entity.key]?.plain else { return [] }
        return try read { db in
            let table = EntityTable(entity: entity)
            let current = try KeyAlias.current(of: key, entity.name, db)
            let remote = try RecordRow(table: table, db: db).remote(of: current)
            let here = remote.map { entity.located(known, as: sealers[entity.name].withoutSealed($0)) } ?? known
            let settling = try SettlingTable(entity: entity.name, db: db).row(of: current)
            let candidates = try [here] + attempted(current, from: here, entity, db) + former(settling, here, entity)
            var found: [JSONText] = []
            for candidate in candidates
            where entity.isMoved(candidate, from: known)
                && found.allSatisfy({ entity.isMoved(candidate, from: $0) }) && found.count < Self.mostAddresses
            {
                found.append(candidate)
            }
            return found
        }
    }

    /// Where attempts to change the record may have moved it, the last one first.
    private func attempted(
        _ key: String, from here: JSONText, _ entity: Entity, _ db: Database
    ) throws -> [JSONText] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT iif(tried > 0, body, '{}'), coalesce(sent, '{}') FROM sync_outbox
                    WHERE entity = ? AND record_key = ? AND operation = 'update' AND (tried > 0 OR sent IS NOT NULL)
                    ORDER BY id
                    """),
            arguments: [entity.name, key])
        var places: [JSONText] = []
        for row in rows {
            let (body, sent) = (try JSONText(parsing: row[0] as String), try JSONText(parsing: row[1] as String))
            let last = places.last ?? here
            // What a change sent before it was corrected.
            let earlier = entity.addressFields.flatMap { name in
                (sent[name]?.elements ?? []).map { entity.moved(last, by: .object([name: $0])) }
            }
            places += earlier + [entity.moved(earlier.last ?? last, by: body)]
        }
        return places.reversed()
    }

    /// Where the record was before accepted changes, the last place first.
    private func former(_ settling: Settling?, _ here: JSONText, _ entity: Entity) -> [JSONText] {
        let earlier = entity.addressFields.compactMap { name in
            (settling?.parts[name]?.earlier).map { (name: name, values: $0) }
        }
        return (0..<(earlier.map(\.values.count).max() ?? 0)).map { age in
            earlier.reduce(here) { place, field in
                guard age < field.values.count else { return place }
                return entity.moved(place, by: .object([field.name: field.values[field.values.count - 1 - age]]))
            }
        }
    }
}
