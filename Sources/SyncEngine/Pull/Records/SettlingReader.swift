internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads the records whose acknowledged changes the upstream has not shown although the time to settle is over. What it
/// answers then is the truth.
struct SettlingReader {
    let environment: SyncEnvironment
    let upstream: any Upstream

    private var store: CacheStore { environment.store }

    private static let most = 100
    /// A record that cannot be read for so long stays as it is until the next full pull. Also the shortest time between full
    /// pulls that take the place of such readings.
    private static let patience = Duration.seconds(3600)

    /// Throws what concerns the whole upstream.
    func read() async throws {
        var left = Self.most
        var waiting: Set<String> = []
        for record in try await store.unconfirmed(limit: Self.most, at: environment.now())
        where !waiting.contains(record.entity) {
            guard left > 0 else { return }
            left -= 1
            if try await !readSingle(record), try await !leaveToList(record) { waiting.insert(record.entity) }
        }
    }

    /// Reads the record; false if the upstream serves no single records of its entity, so that only the list can show it.
    private func readSingle(_ record: CacheStore.UnconfirmedRecord) async throws -> Bool {
        do {
            return try await readOnce(record)
        } catch let error as UpstreamError {
            if error.concernsWholeUpstream { throw error }
            if error.isUnknownMethod, !record.isDeleted { return false }
            try await endSettlingAfterPatience(record)
            return true
        }
    }

    /// The same without what follows from a failure.
    private func readOnce(_ record: CacheStore.UnconfirmedRecord) async throws -> Bool {
        guard let entity = environment.schema[record.entity] else {
            try await endSettling(record)
            return true
        }
        let known = try store.known(of: record)
        guard entity.pull != nil else {
            try await readAmongSiblings(record, known, entity)
            return true
        }
        guard entity.recordPath(of: known) != nil else { return false }
        try await read(record, known, entity)
        return true
    }

    private func read(_ record: CacheStore.UnconfirmedRecord, _ known: JSONText, _ entity: Entity) async throws {
        let position = try store.position()
        let judge = AbsenceJudge(environment, upstream)
        guard let found = try await judge.read(known, of: entity) else {
            // Also if its deletion failed here, which hides it.
            guard try store.remote(of: entity.name, key: record.key) != nil else {
                guard record.isDeleted,
                    try await judge.verdict(on: known, of: entity, wasRead: true) == .gone
                else { return try await endSettling(record) }
                return try await store.stillDeleted(record.entity, key: record.key, at: environment.now())
            }
            // A creation that was answered without its record may have another key upstream.
            if try await judge.verdict(on: known, of: entity, wasRead: true) == .gone {
                // One that was never shown has been absent all along. Any other is asked for again by a later pull.
                guard record.isCreated || isAbsentAgain(record, known) else { return }
                _ = try await store.delete([record.key], of: entity.name, position: position, at: environment.now())
                return try await endSettling(record)
            }
            return try await endSettlingAfterPatience(record)
        }
        environment.absences.forget(RecordName(entity: record.entity, key: record.key))
        guard entity.isKey(record.key, of: found.record) else { return try await endSettling(record) }
        try await store.apply([found], of: entity, position: position, at: environment.now())
        try await endSettling(record)
    }

    private func isAbsentAgain(_ record: CacheStore.UnconfirmedRecord, _ known: JSONText) -> Bool {
        environment.absences.confirms(
            RecordName(entity: record.entity, key: record.key), known: known, at: environment.monotonicNow(),
            after: environment.schema.upstream.settle)
    }

    /// A record that is served only with its parent: no pull asks for it again before the parent changes. Whether it is
    /// gone is for the next pull to decide, which reads the siblings again.
    private func readAmongSiblings(
        _ record: CacheStore.UnconfirmedRecord, _ known: JSONText, _ entity: Entity
    ) async throws {
        let position = try store.position()
        let reader = RecordReader(store: store, upstream: upstream)
        if let found = try await reader.record(of: entity, known: known) {
            try await store.apply([found], of: entity, position: position, at: environment.now())
            try await forgetParents(of: found.record, entity)
        } else if let (parent, known) = try reader.parent(of: entity, known), let key = known[parent.key]?.plain {
            try await store.forgetFetched([key], of: parent.name, at: environment.now())
        }
        try await endSettling(record)
    }

    /// The parent may have been read before the upstream counted the child.
    private func forgetParents(of child: JSONText, _ entity: Entity) async throws {
        for (parent, detail) in environment.schema.parents(of: entity) where detail.isInSingle {
            guard let key = detail.by.flatMap({ entity.value(of: $0, in: child) }), key.kind != .null else { continue }
            try await store.forgetFetched([key.plain], of: parent.name, at: environment.now())
        }
    }

    /// Has the whole list read again, unless every pull does that: a list of what changed may have shown the record for the
    /// last time. False while the last full pull is too recent for another one.
    private func leaveToList(_ record: CacheStore.UnconfirmedRecord) async throws -> Bool {
        guard let plan = environment.schema[record.entity]?.pull, plan.mode != .full,
            let last = try store.cursor(of: record.entity).lastFullAt,
            last < record.at + environment.schema.upstream.settle
        else {
            try await endSettling(record)
            return true
        }
        guard environment.now().since(last) >= Self.patience else { return false }
        try await store.leaveToFullPull(record.entity, key: record.key, at: environment.now())
        return true
    }

    private func endSettlingAfterPatience(_ record: CacheStore.UnconfirmedRecord) async throws {
        guard environment.now().since(record.at) > Self.patience else { return }
        try await endSettling(record)
    }

    private func endSettling(_ record: CacheStore.UnconfirmedRecord) async throws {
        try await store.endSettling(record.entity, key: record.key, at: environment.now())
    }
}
