internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Decides whether the upstream really lacks a record, after an answer without it.
///
/// One 404, one empty list and one list that is shorter than before prove nothing: a gateway, an expired token or a page
/// that slid may be the reason. Absence counts once the upstream has served a *witness* with the same token, another record
/// or a list that must be there, and then lacks the record again. Where it serves no single records, only its lists count.
struct AbsenceJudge: Sendable {
    enum Verdict: Sendable, Equatable {
        /// The upstream is well and has no such record.
        case gone
        case here(RemoteRecord)
        /// Its creation was acknowledged a moment ago: ask again later.
        case settling
        /// The text says why.
        case cannotSay(String)
    }

    let store: CacheStore
    let upstream: any Upstream
    let now: @Sendable () -> Timestamp
    /// For the windows of lists.
    let upstreamTime: @Sendable () -> Timestamp
    /// Records that were asked for are handed over once they have this many bytes.
    var mostBytes = 16 << 20

    /// The verdict on a record of an entity that has a list of its own. `wasRead`: it was just asked for by its key, and
    /// the answer was 404.
    ///
    /// Throws `.barred` when nothing that must be there is: then the 404 is about the account or a gateway.
    func verdict(on known: JSONText, of entity: Entity, wasRead: Bool = false) async throws -> Verdict {
        guard let plan = entity.pull, let key = known[entity.key]?.plain else {
            return .cannotSay("\(entity.name) cannot be asked for a record")
        }
        let isReadable = entity.recordPath(of: known) != nil
        if isReadable, !wasRead, let found = try await read(known, of: entity) {
            return verdict(found, on: key, entity)
        }
        if try store.isNew(entity.name, key: key, at: now()) { return .settling }
        if isReadable, try await servesAnother(of: entity, than: [key]) {
            return try await repeated(known, key, of: entity)
        }
        return try await search(for: known, key, of: entity, plan, isReadable: isReadable)
    }

    /// The verdict once a witness was served. An upstream may have been ill for a moment, so it is asked once more.
    func repeated(_ known: JSONText, _ key: String, of entity: Entity) async throws -> Verdict {
        guard let found = try await read(known, of: entity) else { return .gone }
        return verdict(found, on: key, entity)
    }

    /// The verdict of the record that was read. Of another one, a mark of deletion says nothing.
    private func verdict(_ found: RemoteRecord, on key: String, _ entity: Entity) -> Verdict {
        guard entity.isDeleted(found.record) else { return .here(found) }
        guard entity.isKey(key, of: found.record) else {
            return .cannotSay("asked for \(key), the upstream answers another record")
        }
        return .gone
    }

    /// Reads a record by its key, and remembers that the upstream serves single records of the entity.
    func read(_ known: JSONText, of entity: Entity) async throws -> RemoteRecord? {
        let found = try await RecordPlaces(store: store, upstream: upstream).record(of: entity, known: known)
        if found != nil, try !hasServed(entity) { try await store.setSetting(Self.setting(entity), to: Self.served) }
        return found
    }

    /// Whether the upstream has ever answered with a single record of the entity.
    func hasServed(_ entity: Entity) throws -> Bool { try store.setting(Self.setting(entity)) == Self.served }

    /// Asks for one record of a list that was just read, once and for all: only an upstream that serves single records
    /// can say later that one is gone. A failure says nothing.
    func learn(of entity: Entity) async throws {
        guard try store.setting(Self.setting(entity)) == nil,
            let known = try store.anotherRecord(of: entity.name, than: []), entity.recordPath(of: known) != nil
        else { return }
        do {
            if try await read(known, of: entity) == nil {
                try await store.setSetting(Self.setting(entity), to: Self.notServed)
            }
        } catch let error as UpstreamError where !error.concernsWholeUpstream {}
    }

    private static func setting(_ entity: Entity) -> String { "single:\(entity.name)" }
    private static let served = "served"
    private static let notServed = "not served"

    /// Whether the upstream serves another record by its key now: one of the newest three that are known, since one may
    /// have been deleted. Some answer every request with the same record.
    func servesAnother(of entity: Entity, than keys: [String]) async throws -> Bool {
        var asked = keys
        for _ in 1...3 {
            guard let other = try store.anotherRecord(of: entity.name, than: asked),
                let key = other[entity.key]?.plain, entity.recordPath(of: other) != nil
            else { return false }
            if let found = try await read(other, of: entity), entity.isKey(key, of: found.record) { return true }
            asked.append(key)
        }
        return false
    }
}

extension AbsenceJudge {
    init(_ environment: SyncEnvironment, _ upstream: any Upstream) {
        self.init(
            store: environment.store, upstream: upstream, now: environment.now,
            upstreamTime: { environment.upstreamTime })
    }
}
