internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Decides what becomes of the records that a full pull did not see.
///
/// Up to a hundred are asked for by their keys, and those that are gone are deleted. Where there are more, or the
/// upstream serves no single records, a second full pull must agree, within the guard, or a person.
struct UnseenSweep {
    let puller: Puller
    let entity: Entity
    let seen: SeenRecords
    /// Records that the list showed.
    let listed: Int
    /// Why the list may not be whole; nil if it is.
    let doubt: String?
    /// No page of the list was answered earlier than then; a gateway may have kept some.
    let answered: Timestamp
    /// A person has confirmed that what the list lacks is gone.
    let isConfirmed: Bool

    struct Outcome {
        var deleted = 0
        /// Records that are kept although the list lacks them, and why.
        var held = 0
        var reason: String?
        /// The next pull must read everything again to decide.
        var isOpen = false
    }

    private static let sample = 5

    private var store: CacheStore { puller.store }

    func run() async throws -> Outcome {
        var outcome = try await outcome()
        if try store.hasUnseenCreation(of: entity.name, seen, at: puller.now()) { outcome.isOpen = true }
        return outcome
    }

    private func outcome() async throws -> Outcome {
        let count = try store.countUnseen(of: entity.name, seen, at: puller.now())
        guard count > 0 else {
            try await store.forgetMissing(of: entity.name, at: puller.now())
            return Outcome()
        }
        let rows = try store.rowCount(of: entity.name)
        do {
            // To a caller without a token, a list may show only what is public.
            try await puller.upstream.confirmToken()
            if count <= AbsenceJudge.most, let outcome = try await outcomeOfAsking(rows: rows) { return outcome }
            if !isConfirmed, let reason = try await reasonToHold(count, rows: rows) {
                return try await held(count, reason)
            }
        } catch let error as UpstreamError where !error.concernsWholeUpstream && !isConfirmed {
            return Outcome(
                held: count, reason: "\(missing(count, rows)): \(error.message)", isOpen: !error.mayConcernRecord)
        }
        var outcome = Outcome()
        outcome.deleted = try await store.deleteUnseen(
            of: entity.name, seen, onlyMissing: !isConfirmed, upTo: answered, at: puller.now())
        outcome.isOpen = try store.hasMissing(of: entity.name)
        return outcome
    }

    /// Nil if the upstream serves no single records of the entity.
    private func outcomeOfAsking(rows: Int) async throws -> Outcome? {
        let suspects = try store.unseen(of: entity.name, seen, limit: AbsenceJudge.most, at: puller.now())
        let position = try store.position()
        let findings = try await puller.judge.findings(on: suspects, of: entity, listed: listed) { here in
            try await store.apply(here, of: entity, position: position, at: puller.now())
        }
        guard let findings else { return nil }
        var outcome = Outcome()
        let confirmed = try await confirmed(findings, suspects)
        let (merged, isOpen) = try await merged(findings, suspects, rows: rows)
        outcome.deleted = try await store.delete(
            findings.gone + confirmed + merged, of: entity.name, position: position, at: puller.now())
        let left = findings.undecided.count - confirmed.count - merged.count
        if left > 0 {
            let why = findings.reason.map { "; \($0)" } ?? ""
            outcome.held = left
            outcome.isOpen = findings.mayPass || isOpen
            outcome.reason = (listed == 0 ? empty(rows) : missing(left, rows)) + why
        }
        return outcome
    }

    /// The undecided records that were merged into others: for the time to settle, no full pull has seen them, and the
    /// upstream has answered requests for them with the other record. A gateway may do that too, but not for so long.
    /// Forgets all others that were missing before. `isOpen`: later pulls may find that more were merged.
    private func merged(
        _ findings: AbsenceJudge.Findings, _ suspects: [CacheStore.UnseenRecord], rows: Int
    ) async throws -> (keys: [String], isOpen: Bool) {
        var keys: [String] = []
        let isBelieved = !isConfirmed && doubt == nil && listed > 0
        if isBelieved, findings.others.count <= puller.deletionGuard.tombstones(of: entity.name, rows: rows) {
            keys = try findings.others.filter { key, other in
                guard case .known(let current, _) = try store.remoteState(of: other, entity.name) else { return false }
                return current.exact != key && !suspects.contains { $0.key.exact == current.exact }
            }.map(\.key.text)
        }
        let named = suspects.map(\.key) + findings.others.values
        if !keys.isEmpty, try await !puller.judge.servesAnother(of: entity, than: named) { keys = [] }
        let merged = try await store.noteMissing(
            keys, of: entity.name, upTo: min(answered, puller.now() - puller.schema.upstream.settle),
            at: puller.now())
        return (merged, merged.count < keys.count)
    }

    /// The undecided records that a person has confirmed to be gone. The upstream must serve another one while it refuses to
    /// show some.
    private func confirmed(
        _ findings: AbsenceJudge.Findings, _ suspects: [CacheStore.UnseenRecord]
    ) async throws -> [String] {
        guard isConfirmed else { return [] }
        if findings.refused.isEmpty { return findings.undecided }
        let isServed = try await puller.judge.servesAnother(of: entity, than: suspects.map(\.key))
        return isServed ? findings.undecided : findings.undecided.filter { !findings.refused.contains($0.exact) }
    }

    /// Says also whether the upstream still has one of the records, for a person who is to confirm the deletion.
    private func reasonToHold(_ count: Int, rows: Int) async throws -> String? {
        let allowance = puller.deletionGuard.allowance(of: entity.name, rows: rows)
        let reason: String? =
            if listed == 0 {
                empty(rows)
            } else if let doubt {
                "\(missing(count, rows)), but \(doubt)"
            } else {
                count > allowance ? missing(count, rows) : nil
            }
        let sample = try store.unseen(of: entity.name, seen, limit: Self.sample, at: puller.now())
        do {
            guard let key = try await puller.judge.firstHere(of: sample, entity) else { return reason }
            return "\(reason ?? missing(count, rows)); the upstream still has \(key), which is one of them"
        } catch let error as UpstreamError where reason != nil && error != .cancelled {
            // Also 401: some answer so for what an account may not see, and it is held in any case.
            return reason
        }
    }

    private func held(_ count: Int, _ reason: String) async throws -> Outcome {
        try await store.forgetMissing(of: entity.name, at: puller.now())
        return Outcome(held: count, reason: reason)
    }

    private func empty(_ rows: Int) -> String { "the list of \(entity.name) was empty, had \(rows.grouped)" }

    private func missing(_ count: Int, _ rows: Int) -> String {
        "the upstream no longer lists \(count.grouped) of \(rows.grouped) \(entity.name)"
    }
}
