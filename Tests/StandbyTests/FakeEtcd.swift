import Foundation
import JSONText
import Synchronization
import TestSupport
import Upstream

/// The JSON gateway of an etcd cluster in memory. Its leases end by the test's clock.
final class FakeEtcd: HTTPTransport {
    struct Entry: Equatable {
        var value: String
        var created: Int
        var modified: Int
        var lease: String
    }

    struct State {
        fileprivate var cluster = 1
        fileprivate var revision = 1
        fileprivate var leases: [String: (ttl: Int, end: ManualClock.Instant)] = [:]
        fileprivate var entries: [String: Entry] = [:]
        fileprivate var nextLease = 7_000_000_000_000_000_001
        /// Hosts that cannot be reached.
        fileprivate var lost: Set<String> = []
        /// Answers of this path that are lost after the call was carried out.
        fileprivate var lostAnswers: [String: Int] = [:]
        fileprivate var onAnswer: (@Sendable (_ path: String) -> Void)?
        fileprivate var calls: [(host: String, path: String)] = []
        fileprivate var password: String?
        fileprivate var transactions: [JSONText] = []
    }

    private let state = Mutex(State())
    let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    // MARK: For tests

    func lose(_ host: String, _ isLost: Bool = true) {
        state.withLock { state in
            if isLost { state.lost.insert(host) } else { state.lost.remove(host) }
        }
    }

    /// Carries the next calls of this path out and loses their answers, whatever member is asked.
    func loseAnswers(_ path: String, times: Int = 1) { state.withLock { $0.lostAnswers[path] = times } }

    /// Called before each answer arrives.
    func onAnswer(_ body: (@Sendable (_ path: String) -> Void)?) { state.withLock { $0.onAnswer = body } }

    func require(password: String) { state.withLock { $0.password = password } }

    func put(_ key: String, _ value: String) { state.withLock { Self.put(key, value, lease: "0", &$0) } }

    func remove(_ key: String) {
        state.withLock { state in
            state.revision += 1
            state.entries[key] = nil
        }
    }

    func revokeAll() { state.withLock { state in for id in Array(state.leases.keys) { Self.end(id, &state) } } }

    /// Does the last transaction that wrote this value once more, as a member that was stopped for a while.
    func repeatTransaction(with value: String) {
        state.withLock { state in
            let coded = Data(value.utf8).base64EncodedString()
            guard let body = state.transactions.last(where: { $0.text.contains(coded) }) else { return }
            _ = Self.transaction(body, &state)
        }
    }

    /// What a copy of its data has.
    var copy: State { state.withLock { $0 } }

    /// Starts again from a copy; without one, as a new cluster.
    func restore(_ copy: State?) {
        state.withLock { state in
            let fresh = State(cluster: state.cluster + 1)
            state = copy ?? fresh
        }
    }

    var entries: [String: Entry] { current { $0.entries } }
    var hosts: [String] { state.withLock { $0.calls.map(\.host) } }
    var paths: [String] { state.withLock { $0.calls.map(\.path) } }

    /// After what has ended by now is gone.
    private func current<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            for (id, lease) in state.leases where lease.end <= clock.now { Self.end(id, &state) }
            return body(&state)
        }
    }

    // MARK: Calls

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let parts = request.url.dropFirst("http://".count).split(separator: "/", maxSplits: 1).map(String.init)
        let (host, path) = (parts[0], "/" + parts[1])
        guard let body = try? JSONText(request.body ?? []) else { throw .unsendable("no JSON") }
        let isLost = state.withLock { state in
            state.calls.append((host, path))
            return state.lost.contains(host)
        }
        guard !isLost else { throw .unreachable("\(host) cannot be reached") }
        let token = request.headers.first { $0.name == "Authorization" }?.value
        let (status, answer, losesAnswer, onAnswer) = current { state in
            let (status, answer) = Self.answer(path, body, token, &state, clock.now)
            let left = state.lostAnswers[path] ?? 0
            state.lostAnswers[path] = max(left - 1, 0)
            return (status, answer, left > 0, state.onAnswer)
        }
        onAnswer?(path)
        if losesAnswer { throw .ambiguous("no answer") }
        return HTTPResponse(status: status, body: Array(answer.bytes))
    }

    private static func answer(
        _ path: String, _ body: JSONText, _ token: String?, _ state: inout State, _ now: ManualClock.Instant
    ) -> (Int, JSONText) {
        if let password = state.password {
            if path == "/v3/auth/authenticate" {
                return body["password"]?.string == password
                    ? (200, .object(["token": "t1"])) : (400, .object(["code": 3, "message": "authentication failed"]))
            }
            guard token == "t1" else { return (401, .object(["code": 16, "message": "invalid auth token"])) }
        }
        switch path {
        case "/v3/lease/grant":
            let ttl = Int(body["TTL"]?.plain ?? "") ?? 0
            let id = String(state.nextLease)
            state.nextLease += 1
            state.leases[id] = (ttl, now.advanced(by: .seconds(ttl)))
            return (200, .object(["ID": .string(id), "TTL": .string("\(ttl)")]))
        case "/v3/lease/keepalive":
            let id = body["ID"]?.string ?? ""
            guard let lease = state.leases[id] else {
                return (200, .object(["result": .object(["ID": .string(id)])]))
            }
            state.leases[id]?.end = now.advanced(by: .seconds(lease.ttl))
            return (200, .object(["result": .object(["ID": .string(id), "TTL": .string("\(lease.ttl)")])]))
        case "/v3/lease/revoke":
            end(body["ID"]?.string ?? "", &state)
            return (200, .object([:]))
        case "/v3/kv/range": return (200, range(body, state))
        case "/v3/kv/txn":
            state.transactions.append(body)
            return transaction(body, &state)
        default: return (404, .object(["message": "not found"]))
        }
    }

    private static func transaction(_ body: JSONText, _ state: inout State) -> (Int, JSONText) {
        let isTrue = (body["compare"]?.elements ?? []).allSatisfy { condition in
            let entry = state.entries[text(condition["key"])]
            return condition["target"] == "MOD"
                ? condition["mod_revision"]?.plain == String(entry?.modified ?? 0)
                : condition["create_revision"]?.plain == String(entry?.created ?? 0)
        }
        // A member answers this one from its own memory, which may be old.
        if body["success"]?.elements.isEmpty ?? true { return (200, .object(["succeeded": true])) }
        let steps = body[isTrue ? "success" : "failure"]?.elements ?? []
        let leases = steps.compactMap { $0["request_put"]?["lease"]?.string }
        guard leases.allSatisfy({ state.leases[$0] != nil }) else {
            return (404, .object(["code": 5, "message": "etcdserver: requested lease not found"]))
        }
        // All writes of a transaction have one revision; reads see what is before them.
        state.revision += 1
        let answers = steps.map { step -> JSONText in
            if let put = step["request_put"] {
                Self.put(
                    text(put["key"]), text(put["value"]), lease: put["lease"]?.string ?? "0", &state, counts: false)
                return .object(["response_put": .object([:])])
            }
            if let delete = step["request_delete_range"] {
                state.entries[text(delete["key"])] = nil
                return .object(["response_delete_range": .object([:])])
            }
            return .object(["response_range": range(step["request_range"] ?? .object([:]), state)])
        }
        return (
            200,
            .object([
                "header": .object([
                    "revision": .string("\(state.revision)"), "cluster_id": .string("\(state.cluster)"),
                ]), "succeeded": .boolean(isTrue),
                "responses": .array(answers),
            ])
        )
    }

    private static func range(_ body: JSONText, _ state: State) -> JSONText {
        let (start, end) = (text(body["key"]), body["range_end"].map(text))
        let keys = state.entries.keys.filter { key in
            end.map { key >= start && key < $0 } ?? (key == start)
        }.sorted()
        let limit = Int(body["limit"]?.plain ?? "") ?? .max
        return .object([
            "kvs": .array(
                keys.prefix(limit).map { key in
                    let entry = state.entries[key] ?? Entry(value: "", created: 0, modified: 0, lease: "0")
                    return .object([
                        "key": .string(Data(key.utf8).base64EncodedString()),
                        "value": .string(Data(entry.value.utf8).base64EncodedString()),
                        "create_revision": .string("\(entry.created)"),
                        "mod_revision": .string("\(entry.modified)"), "lease": .string(entry.lease),
                    ])
                })
        ])
    }

    private static func put(
        _ key: String, _ value: String, lease: String, _ state: inout State, counts: Bool = true
    ) {
        if counts { state.revision += 1 }
        let created = state.entries[key]?.created ?? state.revision
        state.entries[key] = Entry(value: value, created: created, modified: state.revision, lease: lease)
    }

    private static func end(_ lease: String, _ state: inout State) {
        state.leases[lease] = nil
        state.revision += 1
        state.entries = state.entries.filter { $0.value.lease != lease || lease == "0" }
    }

    private static func text(_ coded: JSONText?) -> String {
        (coded?.string).flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
