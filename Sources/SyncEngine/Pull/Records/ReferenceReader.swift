internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Reads records outside of an entity's window that kept ones refer to, one by one: at most a hundred a pull.
///
/// A record that cannot be read does not stop the others. It is asked for again later, and until then the entity's status
/// says that it is missing.
struct ReferenceReader {
    let puller: Puller
    let entity: Entity
    /// By this pull.
    private var asked: Set<ExactText> = []
    private var failures: [String] = []
    private var wasRefused = false
    private var hasEnded = false

    /// How long the upstream is not asked again for a record that it refused.
    private static let refusal = Duration.seconds(3600)
    /// This many failures in a row concern more than single records.
    private static let mostFailures = 10

    init(puller: Puller, entity: Entity) {
        self.puller = puller
        self.entity = entity
    }

    private var store: CacheStore { puller.store }

    /// Whether the next pull asks again for a record that could not be read.
    private(set) var mayPass = false

    /// False if there was nothing to ask for. Throws what every other request would meet as well.
    mutating func read() async throws -> Bool {
        let room = AbsenceJudge.most - asked.count
        guard !hasEnded, room > 0, try store.mayMissReferences(to: entity, at: puller.now()) else { return false }
        let position = try store.position()
        let missing = try store.missingReferences(to: entity, limit: AbsenceJudge.most, at: puller.now())
        let isComplete = try missing.isEmpty && failures.isEmpty && storedProblem() == nil
        if isComplete || entity.pull?.single.isServed != true {
            try await store.noteReferencesComplete(of: entity, at: position, puller.now())
            return false
        }
        let keys = Array(missing.filter { !asked.contains($0.exact) }.prefix(room))
        guard !keys.isEmpty else { return false }
        try await ask(for: keys)
        return true
    }

    /// Why records are missing, in words; nil if none is.
    func problem() async throws -> String? {
        if failures.isEmpty, let stored = try storedProblem() { return stored }
        let problem = failures.first.map { first in
            """
            \(failures.count.grouped) of the \(entity.name) that cached records refer to could not be read (\(first)); they are \
            asked for again, at once by sync --full. Let the account read them, correct pull.record in the schema, or set \
            keep: window
            """
        }
        let isWaiting = try wasRefused || storedProblem() != nil
        let end = puller.now() + (isWaiting ? Self.refusal : .zero)
        try await store.noteReferences(problem, of: entity.name, until: end)
        return problem
    }

    private func storedProblem() throws -> String? { try store.referenceProblem(of: entity.name, at: puller.now()) }

    private mutating func ask(for keys: [String]) async throws {
        var (absent, refused, unclear): ([String], [String], [String]) = ([], [], [])
        var inARow = 0
        for key in keys where !hasEnded {
            asked.insert(key.exact)
            do {
                if try await !take(key) { absent.append(key) }
                inARow = 0
            } catch let error as UpstreamError where !error.concernsWholeUpstream {
                failures.append(error.message)
                inARow += 1
                switch error {
                case .unclear, .locked: unclear.append(key)
                default: refused.append(key)
                }
                mayPass = mayPass || !unclear.isEmpty
            }
            if absent.count >= 3, try !puller.judge.hasServed(entity) { hasEnded = true }
            if inARow >= Self.mostFailures { hasEnded = true }
        }
        // Those that would be asked for first each time must not keep others waiting.
        if hasEnded || asked.count >= AbsenceJudge.most { refused += unclear }
        wasRefused = wasRefused || !refused.isEmpty
        try await store.noteAbsent(absent, of: entity.name, at: puller.now())
        try await store.noteAbsent(refused, of: entity.name, at: puller.now(), for: Self.refusal)
    }

    /// False if the upstream has no such record.
    private func take(_ key: String) async throws -> Bool {
        let known = JSONText.object(members: [(entity.key, entity.keyValue(key))])
        guard entity.recordPath(of: known) != nil else { return false }
        let position = try store.position()
        guard let found = try await puller.judge.read(known, of: entity),
            entity.isKey(key, of: found.record), !entity.isDeleted(found.record)
        else { return false }
        let outcome = try await store.apply([found], of: entity, position: position, at: puller.now())
        return outcome.written > 0
    }
}
