internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Asks for the records that a full pull did not see, one by one.
extension AbsenceJudge {
    /// The most records of one pull that are asked for.
    static let most = 100

    struct Findings: Sendable {
        var gone: [String] = []
        /// How many the list lacked, yet the upstream has.
        var here = 0
        /// The last of these.
        var lastHere: JSONText?
        /// Those that cannot be decided, and why.
        var undecided: [String] = []
        var reason: String?
        /// Of the undecided, those that the upstream refuses to show.
        var refused: Set<ExactText> = []
        /// For the undecided that the upstream answers with another record: the key of the other.
        var others: [ExactText: String] = [:]
        /// Whether one was answered with a failure, which may pass.
        var mayPass = false

        /// What the upstream answered. Returns whether that is the record, and not deleted.
        fileprivate mutating func note(
            _ found: RemoteRecord, for suspect: CacheStore.UnseenRecord, _ entity: Entity
        ) -> Bool {
            guard entity.isKey(suspect.key, of: found.record) else {
                undecided.append(suspect.key)
                others[suspect.key.exact] = found.record[entity.key]?.plain
                reason = "asked for \(suspect.key), the upstream answers another record"
                return false
            }
            guard !entity.isDeleted(found.record) else {
                gone.append(suspect.key)
                return false
            }
            here += 1
            lastHere = found.record
            return true
        }
    }

    /// What became of at most `most` records. Nil if the upstream serves no single records of the entity.
    ///
    /// `listed`: how many records the list has just shown; nil if it was not read. `take` gets those that the upstream has,
    /// a few times if they are large, before the others are asked for.
    func findings(
        on suspects: [CacheStore.UnseenRecord], of entity: Entity, listed: Int? = nil,
        take: ([RemoteRecord]) async throws -> Void
    ) async throws -> Findings? {
        var findings = Findings()
        let first = Array(suspects.prefix(Self.most))
        guard var absent = try await absent(among: first, of: entity, &findings, take) else { return nil }
        // An upstream may be ill for a moment, so what it lacks is asked for twice, with a witness after each time.
        for round in 1...2 where !absent.isEmpty {
            switch try await witness(suspects, findings, entity, listed) {
            case .served where round == 1:
                absent = try await self.absent(among: absent, of: entity, &findings, take) ?? absent
            case .served: findings.gone += absent.map(\.key)
            case .notServing where findings.refused.isEmpty: return nil
            case .notServing:
                findings.undecided += absent.map(\.key)
                return findings
            case .none(let reason):
                findings.undecided += absent.map(\.key)
                findings.reason = reason
                return findings
            }
        }
        return findings
    }

    private enum Answer {
        case found(RemoteRecord)
        case absent
        /// The upstream serves no single records of the entity: there is no address for them, or it says so (405, 501).
        case notServed
    }

    private func answer(on suspect: CacheStore.UnseenRecord, of entity: Entity) async throws -> Answer {
        // One that is no longer cached is absent here too.
        guard let known = try suspect.remote ?? store.remote(of: entity.name, key: suspect.key) else { return .absent }
        guard entity.recordPath(of: known) != nil else { return .notServed }
        do {
            return try await read(known, of: entity).map(Answer.found) ?? .absent
        } catch let error as UpstreamError where error.isUnknownMethod {
            return .notServed
        }
    }

    /// This many refusals in a row are about the account or a gateway.
    private static let mostRefusals = 10

    /// The records that the upstream does not have when it is asked for them. Nil if it cannot be asked for one. A
    /// record that the account may not read, that has moved, or for which the upstream answers 500, is undecided. It
    /// does not keep the others from being decided.
    private func absent(
        among suspects: [CacheStore.UnseenRecord], of entity: Entity, _ findings: inout Findings,
        _ take: ([RemoteRecord]) async throws -> Void
    ) async throws -> [CacheStore.UnseenRecord]? {
        var (here, bytes): ([RemoteRecord], Int) = ([], 0)
        var absent: [CacheStore.UnseenRecord] = []
        var refusals = 0
        for suspect in suspects {
            do {
                switch try await answer(on: suspect, of: entity) {
                case .notServed: return nil
                case .absent: absent.append(suspect)
                case .found(let found):
                    guard findings.note(found, for: suspect, entity) else { break }
                    here.append(found)
                    bytes += found.record.bytes.count
                }
                refusals = 0
            } catch let error as UpstreamError
                where (error.mayConcernRecord || error.mayConcernAll) && refusals + 1 < Self.mostRefusals
            {
                refusals += 1
                // If the upstream answers so for another record as well, it is not about this one.
                if error.mayConcernAll, try await !servesAnother(of: entity, than: suspects.map(\.key)) {
                    throw error
                }
                findings.mayPass = findings.mayPass || error.isServerFailure
                findings.refused.insert(suspect.key.exact)
                findings.undecided.append(suspect.key)
                findings.reason = error.message
            }
            guard bytes >= mostBytes else { continue }
            try await take(here)
            (here, bytes) = ([], 0)
        }
        if !here.isEmpty { try await take(here) }
        return absent
    }

    /// One of the first of many such records that the upstream still has; nil if it has none of them.
    func firstHere(of suspects: [CacheStore.UnseenRecord], _ entity: Entity) async throws -> String? {
        for suspect in suspects {
            if case .found(let found) = try await answer(on: suspect, of: entity), !entity.isDeleted(found.record) {
                return suspect.key
            }
        }
        return nil
    }

    /// The keys of those that the upstream has when it is asked for them; none if it serves no single records.
    func here(among suspects: [CacheStore.UnseenRecord], of entity: Entity) async throws -> Set<ExactText> {
        var here: Set<ExactText> = []
        for suspect in suspects {
            switch try await answer(on: suspect, of: entity) {
            case .notServed: return []
            case .absent: continue
            case .found(let found):
                if entity.isKey(suspect.key, of: found.record), !entity.isDeleted(found.record) {
                    here.insert(suspect.key.exact)
                }
            }
        }
        return here
    }

    private enum Witness {
        case served, notServing
        case none(String)
    }

    private func witness(
        _ suspects: [CacheStore.UnseenRecord], _ findings: Findings, _ entity: Entity, _ listed: Int?
    ) async throws -> Witness {
        if try await servesAnother(of: entity, than: suspects.map(\.key)) { return .served }
        if let here = findings.lastHere, try await read(here, of: entity) != nil { return .served }
        guard try hasServed(entity) else { return .notServing }
        if listed != 0, try await servesListed(of: entity, than: suspects.map(\.key)) { return .served }
        // Other records that the cache has may be gone as well, outside of the window of an empty list.
        guard try listed == 0 || store.anotherRecord(of: entity.name, than: suspects.map(\.key)) == nil else {
            throw UpstreamError.barred(
                status: 404, "the upstream lists \(entity.name), but asked for one, it answers that there is none")
        }
        switch try await isWell(beside: entity) {
        case true?: return .served
        case false?: return .none("the upstream answers with nothing to every request")
        case nil: return .none("nothing else could show that the upstream is well")
        }
    }
}
