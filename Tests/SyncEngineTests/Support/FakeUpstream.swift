import EntitySchema
import JSONText
import Synchronization
import Upstream

/// An upstream in memory: lists, records, idempotency keys, and failures on request.
final class FakeUpstream: Upstream, Sendable {
    struct Push: Equatable {
        var request: PushRequest
        var key: String
    }

    private struct State {
        var lists: [String: [JSONText]] = [:]
        var account: String? = "company-1"
        /// The next answers to the question for the account, before that one.
        var accounts: [String] = []
        var accountFailure: UpstreamError?
        /// How many of the next answers to that question a gateway repeats.
        var repeatedAccounts = 0
        var isOffline = false
        /// Answers to the next pushes; nil lets one through. `afterApplying` loses the answer of a change that was made.
        var failures: [(error: UpstreamError, afterApplying: Bool)] = []
        var listFailures: [String: UpstreamError] = [:]
        /// The only position that a list knows. It answers any other with this one.
        var positions: [String: String] = [:]
        var recordFailure: UpstreamError?
        var hidesRecords = false
        var hidden: Set<String> = []
        /// The record that is served in place of every one that is asked for.
        var standIn: String?
        var repeatsRecords = false
        var pushes: [Push] = []
        var applied: [String: JSONText?] = [:]
        var pages: [PageRequest] = []
        var created = 0
        /// Keeps the key that a record was created with.
        var keepsKeys = false
        var brokenMethod: String?
        /// Repeats its failures for the same key, and says so.
        var storesFailures = false
        /// The status of each, by its key.
        var storedFailures: [String: Int] = [:]
        var onPage: (@Sendable () async -> Void)?
        var onPush: (@Sendable () async -> Void)?
        /// Answers to the next pushes that hold no record.
        var emptyAnswers = 0
        /// Answers pushes with nothing, and does nothing.
        var isMute = false
        var isSilent = false
        /// The record of the next answers, whatever was done.
        var answers: [(record: JSONText, isApplied: Bool)] = []
        /// Whether those answers are 202.
        var answersLater = false
        /// The `Location` of those answers: the path of the created record.
        var saysLocation = false
        /// Another `Location` for those answers.
        var location: String?
        /// Refuses changes before they are applied.
        var refusal: (@Sendable (PushRequest) -> UpstreamError?)?
        var recordRequests = 0
        var onRecord: (@Sendable () async -> Void)?
        var accountRequests = 0
        var onAccount: (@Sendable () async -> Void)?
        /// Answers probes with failures.
        var failsProbes = false
        var onProbe: (@Sendable () async -> Void)?
        var batches: [BatchRequest] = []
        /// Errors for the next batches, after applying so many of the elements.
        var batchFailures: [(error: UpstreamError, applied: Int)] = []
        /// Leaves the results of these elements out of the next batches.
        var withheld: Set<Int> = []
        /// Takes a batch back if one of its elements failed.
        var undoesBatches = false
    }

    private let state = Mutex(State())
    private let pageSize: Int
    let streams = FakeStreams()

    init(pageSize: Int = 2) {
        self.pageSize = pageSize
    }

    // MARK: For tests

    func set(_ path: String, _ records: String) throws {
        let elements = try JSONText(parsing: records).elements
        state.withLock { $0.lists[path] = elements }
    }

    func setOffline(_ isOffline: Bool) { state.withLock { $0.isOffline = isOffline } }
    func keepKeys() { state.withLock { $0.keepsKeys = true } }
    func failProbes(_ fails: Bool) { state.withLock { $0.failsProbes = fails } }
    func setAccount(_ account: String) { state.withLock { $0.account = account } }

    /// What the question for the account is answered with instead; nil names the account.
    func failAccount(_ failure: UpstreamError?) { state.withLock { $0.accountFailure = failure } }

    /// Names these accounts next, one for each question.
    func answerAccounts(_ accounts: [String]) { state.withLock { $0.accounts = accounts } }

    /// Called before each question for the account is answered.
    func onAccount(_ body: (@Sendable () async -> Void)?) { state.withLock { $0.onAccount = body } }

    /// The next answers to the question for the account are those of a gateway.
    func repeatAccounts(times: Int) { state.withLock { $0.repeatedAccounts = times } }

    func fail(_ error: UpstreamError, afterApplying: Bool = false, times: Int = 1) {
        state.withLock { $0.failures += Array(repeating: (error, afterApplying), count: times) }
    }

    /// Fails every change sent with this method.
    func breakMethod(_ method: String) { state.withLock { $0.brokenMethod = method } }

    /// Stores each failure under the idempotency key, as Stripe does.
    func storeFailures() { state.withLock { $0.storesFailures = true } }

    /// Fails the next batches after applying the first elements.
    func failBatch(_ error: UpstreamError, applying applied: Int = 0, times: Int = 1) {
        state.withLock { $0.batchFailures += Array(repeating: (error, applied), count: times) }
    }

    /// Applies these elements of batches without a result for them.
    func withholdResults(_ indexes: Set<Int>) { state.withLock { $0.withheld = indexes } }

    func undoBatches() { state.withLock { $0.undoesBatches = true } }

    func clearBatchFailures() { state.withLock { $0.batchFailures = [] } }

    var batches: [BatchRequest] { state.withLock { $0.batches } }

    func answerEmpty(times: Int) { state.withLock { $0.emptyAnswers += times } }

    /// Answers changes with nothing and applies none, as something in front of the upstream may.
    func setMute(_ isMute: Bool) { state.withLock { $0.isMute = isMute } }

    /// Lets answers without a record have no content at all, although they have status 200.
    func answerSilently() { state.withLock { $0.isSilent = true } }

    /// Answers the next changes with another record.
    func answer(_ record: String, times: Int, applying: Bool = true) throws {
        let record = try JSONText(parsing: record)
        state.withLock { $0.answers += Array(repeating: (record, applying), count: times) }
    }

    /// Answers the next changes with this and applies nothing, as 202 does.
    func answerLater(_ record: String, times: Int) throws {
        try answer(record, times: times, applying: false)
        state.withLock { $0.answersLater = true }
    }

    /// Answers creations with the address of the record, or with `location`, instead of the record.
    func answerLocations(_ location: String? = nil, times: Int) {
        state.withLock {
            $0.emptyAnswers += times
            $0.saysLocation = true
            $0.location = location
        }
    }

    /// Fails the changes for which the rule has an error.
    func refuse(_ rule: (@Sendable (PushRequest) -> UpstreamError?)?) { state.withLock { $0.refusal = rule } }

    func clearFailures() { state.withLock { $0.failures = [] } }

    /// Called before each page is answered.
    func onPage(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.onPage = body } }

    /// Called before each change is answered.
    func onPush(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.onPush = body } }

    /// Called before each probe is answered.
    func onProbe(_ body: (@Sendable () async -> Void)?) { state.withLock { $0.onProbe = body } }

    func failList(_ path: String, _ error: UpstreamError?) { state.withLock { $0.listFailures[path] = error } }

    /// Makes a list know only this position, and answer with it to any other or none.
    func renew(_ path: String, _ position: String) { state.withLock { $0.positions[path] = position } }

    /// Answers 404 to every request for a single record.
    func hideRecords(_ hides: Bool) { state.withLock { $0.hidesRecords = hides } }

    /// Answers 404 to every request for this single record, which the list goes on having.
    func hide(_ id: String) { state.withLock { _ = $0.hidden.insert(id) } }

    /// Answers every request for a single record with this one of its list.
    func answerRecords(with id: String) { state.withLock { $0.standIn = id } }
    /// As a gateway does that has kept them.
    func repeatRecords(_ repeats: Bool) { state.withLock { $0.repeatsRecords = repeats } }

    /// Called before each single record is answered.
    func onRecord(_ action: @escaping @Sendable () async -> Void) { state.withLock { $0.onRecord = action } }

    func failRecords(_ error: UpstreamError?) { state.withLock { $0.recordFailure = error } }

    var pushes: [Push] { state.withLock { $0.pushes } }
    var pages: [PageRequest] { state.withLock { $0.pages } }
    /// How often a single record was asked for.
    var recordRequests: Int { state.withLock { $0.recordRequests } }
    /// How often the account was asked for.
    var accountRequests: Int { state.withLock { $0.accountRequests } }
    var appliedCount: Int { state.withLock { $0.applied.count } }
    func records(_ path: String) -> [JSONText] { state.withLock { $0.lists[path] ?? [] } }

    // MARK: Upstream

    func account() async throws(UpstreamError) -> SignedInAccount? {
        try requireOnline()
        await state.withLock { $0.onAccount }?()
        let failure = state.withLock { state in
            state.accountRequests += 1
            return state.accountFailure
        }
        if let failure { throw failure }
        return state.withLock { state in
            let account = state.accounts.isEmpty ? state.account : state.accounts.removeFirst()
            let isRepeated = state.repeatedAccounts > 0
            state.repeatedAccounts -= isRepeated ? 1 : 0
            return account.map { SignedInAccount(id: $0, isRepeated: isRepeated) }
        }
    }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        try requireOnline()
        await state.withLock { $0.onPage }?()
        let (all, failure, known) = state.withLock { state in
            state.pages.append(request)
            return (state.lists[request.path] ?? [], state.listFailures[request.path], state.positions[request.path])
        }
        if let failure { throw failure }
        if let known, request.position != known {
            var page = Page(records: .array([JSONText]()), count: 0, next: known)
            page.isRenewed = true
            return page
        }
        let matching = all.filter { record in
            request.since.map { (record["updated_at"]?.string ?? "") >= $0.value } ?? true
        }
        let page = request.position.flatMap { Int($0) } ?? 1
        let first = (page - 1) * pageSize
        let records = Array(matching.dropFirst(first).prefix(pageSize))
        return Page(
            records: .array(records), count: records.count, total: matching.count,
            next: first + pageSize < matching.count ? "\(page + 1)" : nil)
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try requireOnline()
        await state.withLock { $0.onRecord }?()
        let (failure, hidesRecords) = state.withLock { state in
            state.recordRequests += 1
            let isHidden = known["id"].map { state.hidden.contains($0.plain) } ?? false
            return (state.recordFailure, state.hidesRecords || isHidden)
        }
        if let failure { throw failure }
        if hidesRecords { return nil }
        let found = state.withLock { state -> JSONText? in
            let id = state.standIn.map { JSONText.string($0) } ?? known["id"]
            return state.lists[entity.pull?.path ?? ""]?.first { $0["id"] == id }
        }
        guard let found else { return nil }
        var record = RemoteRecord(found, version: found["revision"]?.plain)
        record.isRepeated = state.withLock { $0.repeatsRecords }
        return record
    }

    func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        try requireOnline()
        let (number, failure, withheld) = state.withLock { state in
            state.batches.append(batch)
            let failure = state.batchFailures.isEmpty ? nil : state.batchFailures.removeFirst()
            return (state.batches.count, failure, state.withheld)
        }
        let before = state.withLock { ($0.lists, $0.applied) }
        var results: [BatchResult] = []
        for (index, element) in batch.elements.prefix(failure?.applied ?? .max).enumerated() {
            let key = element.isKeyShown ? element.idempotencyKey : "batch \(number), element \(index)"
            do throws(UpstreamError) {
                results.append(.success(try await answer(element.request, idempotencyKey: key)))
            } catch {
                results.append(.failure(error))
            }
            if withheld.contains(index) { results[index] = .failure(.unclear(status: 200, "no result")) }
        }
        if let failure { throw failure.error }
        let hasFailed = results.contains { if case .failure = $0 { true } else { false } }
        state.withLock { state in
            if state.undoesBatches, hasFailed { (state.lists, state.applied) = before }
        }
        return results
    }

    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try requireOnline()
        let stored = state.withLock { state in
            state.pushes.append(Push(request: request, key: idempotencyKey))
            return state.storedFailures[idempotencyKey]
        }
        if let stored { return .repeatedFailure(status: stored, "broken") }
        return try await answer(request, idempotencyKey: idempotencyKey)
    }

    private func answer(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        await state.withLock { $0.onPush }?()
        let refusal = state.withLock { $0.refusal }?(request)
        let (failure, answer, location) = state.withLock {
            state -> ((error: UpstreamError, afterApplying: Bool)?, JSONText?, String?) in
            if let refusal { return ((refusal, false), nil, nil) }
            if state.isMute { return (nil, nil, nil) }
            if request.method == state.brokenMethod { return ((.unclear(status: 500, "broken"), false), nil, nil) }
            let failure = state.failures.isEmpty ? nil : state.failures.removeFirst()
            if let failure, !failure.afterApplying { return (failure, nil, nil) }
            if request.method == "PATCH", Self.index(of: request.path, state) == nil {
                return ((.gone(status: 404, "no such record"), false), nil, nil)
            }
            let other = state.answers.isEmpty ? nil : state.answers.removeFirst()
            if let other, !other.isApplied { return (failure, .some(other.record), nil) }
            let answer = state.applied[idempotencyKey] ?? Self.apply(request, &state)
            state.applied[idempotencyKey] = .some(answer)
            if let other { return (failure, .some(other.record), nil) }
            guard state.emptyAnswers > 0 else { return (failure, answer, nil) }
            state.emptyAnswers -= 1
            let own = answer?["id"].map { "https://shop.example\(request.path)/\($0.plain)" }
            return (failure, nil, state.saysLocation ? state.location ?? own : nil)
        }
        if let failure {
            let status = if case .barred(let status, _, _) = failure.error { status } else { 500 }
            state.withLock { if $0.storesFailures { $0.storedFailures[idempotencyKey] = status } }
            throw failure.error
        }
        let (isLater, isSilent) = state.withLock { ($0.answersLater, $0.isSilent) }
        return answer.map { .record(RemoteRecord($0, isLater: isLater)) }
            ?? .accepted(location: location, isSilent: isSilent)
    }

    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        try requireOnline()
        return try await streams.follow(after: lastEvent, receive)
    }

    func probe() async throws(UpstreamError) {
        try requireOnline()
        await state.withLock { $0.onProbe }?()
        if state.withLock({ $0.failsProbes }) { throw .unclear(status: 503, "down") }
    }

    private func requireOnline() throws(UpstreamError) {
        if state.withLock({ $0.isOffline }) { throw .offline("connection refused") }
    }

    /// POST appends with an id of the server; PATCH merges into the record that the path names.
    private static func apply(_ request: PushRequest, _ state: inout State) -> JSONText? {
        if request.method == "DELETE" { return remove(request.path, &state) }
        guard let body = request.body else { return nil }
        if request.method == "POST" {
            state.created += 1
            let given = JSONText.string("server-\(state.created)")
            let record = body.setting("id", to: state.keepsKeys ? body["id"] ?? given : given)
            state.lists[request.path, default: []].append(record)
            return record
        }
        guard let (path, index) = index(of: request.path, state),
            let merged = state.lists[path]?[index].setting(body)
        else { return nil }
        state.lists[path]?[index] = merged
        return merged
    }

    private static func remove(_ path: String, _ state: inout State) -> JSONText? {
        if let (list, index) = index(of: path, state) { state.lists[list]?.remove(at: index) }
        return nil
    }

    private static func index(of path: String, _ state: State) -> (list: String, index: Int)? {
        let parts = path.split(separator: "/")
        let list = "/" + parts.dropLast().joined(separator: "/")
        let index = state.lists[list]?.firstIndex { $0["id"]?.string == String(parts.last ?? "") }
        return index.map { (list, $0) }
    }
}
