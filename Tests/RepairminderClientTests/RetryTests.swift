import Foundation
import Glibc
import RepairminderClient
import Testing

/// What the client repeats, and how.
@Suite("Repeated calls of the client")
struct RetryTests {
    private static let record = Script.Line.json(
        #"{"id":"o1","_sync":{"state":"pending","pending_fields":["notes"]}}"#, [HeaderField("ETag", "\"t2\"")])

    @Test("a write whose answer was lost is sent again with its key")
    func reusesKey() async throws {
        let script = Script(.failure(.interrupted("cut")), .cut([Array("{".utf8)]), Self.record)
        let result = try await script.client.records("orders").update("o1", ["notes": "x"])
        #expect(result.record?.tag == "\"t2\"")
        let keys = await script.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 3)
        #expect(Set(keys).count == 1)
        #expect(keys[0]?.count == 36)
    }

    @Test("each write has a key of its own, unless the caller gives one")
    func makesKeys() async throws {
        let script = Script(Self.record, Self.record, Self.record)
        let orders = script.client.records("orders")
        try await orders.update("o1", ["notes": "x"])
        try await orders.update("o1", ["notes": "x"])
        try await orders.create(["notes": "x"], WriteOptions(key: IdempotencyKey("invoice-17")))
        let keys = await script.requests.map { $0.headers["Idempotency-Key"] ?? "" }
        #expect(Set(keys).count == 3)
        #expect(keys[2] == "invoice-17")
    }

    @Test("keys are random UUIDs, also where no file can be opened: the daemon takes writes with the same key for one")
    func randomKeys() async throws {
        let key = IdempotencyKey().text
        let uuid = try #require(UUID(uuidString: key))
        #expect(uuid.uuidString.lowercased() == key && uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard open("/dev/urandom", O_RDONLY) < 0 else { exit(3) }
            guard Set((0..<3).map { _ in IdempotencyKey() }).count == 3 else { exit(4) }
        }
    }

    @Test("a daemon that starts is waited for", arguments: [ClientError.unreachable("refused"), .interrupted("cut")])
    func waits(error: ClientError) async throws {
        let script = Script(.failure(error), .problem(503, "unavailable", retryAfter: 0), Self.record)
        #expect(try await script.client.records("orders").get("o1")["id"] == "o1")
        #expect(await script.requests.count == 3)
    }

    @Test(
        "a change that is being sent is waited for, and any other conflict is not",
        arguments: [("busy", 2), ("conflict", 1)])
    func busy(code: String, calls: Int) async throws {
        let script = Script(.problem(409, code, retryAfter: 0), .json("{}"))
        _ = try? await script.client.queue.discard(1)
        #expect(await script.requests.count == calls)
    }

    @Test("after the last attempt the caller gets the error")
    func givesUp() async throws {
        let failure = Script.Line.failure(.unreachable("refused"))
        let script = Script(failure, failure, failure, failure, Self.record)
        await #expect(throws: ClientError.unreachable("refused")) {
            try await script.client.records("orders").get("o1")
        }
        #expect(await script.requests.count == 4)
    }

    @Test(
        "what the daemon has decided is not asked again",
        arguments: [
            Script.Line.problem(412, "version_mismatch"), .problem(503, "upstream_unreachable"),
            .problem(503, "unavailable", retryAfter: 3600), .problem(404, "not_cached", retryAfter: 0),
            .json("<html>", status: 502),
        ])
    func decided(line: Script.Line) async throws {
        let script = Script(line, Self.record)
        await #expect(throws: ClientError.self) { try await script.client.records("orders").get("o1") }
        #expect(await script.requests.count == 1)
    }

    @Test("answers to a sign-in are sent once, because they may be used up")
    func signsInOnce() async throws {
        let script = Script(.failure(.interrupted("cut")), .json("{}"))
        await #expect(throws: ClientError.interrupted("cut")) {
            try await script.client.daemon.continueSignIn("s1", answers: ["code": "123456"])
        }
    }

    @Test("an edit is made again on the version that someone else left")
    func editsAgain() async throws {
        let script = Script(
            .json(#"{"id":"o1","n":1}"#, [HeaderField("ETag", "\"t1\"")]), .problem(412, "version_mismatch"),
            .json(#"{"id":"o1","n":2}"#, [HeaderField("ETag", "\"t2\"")]), Self.record)
        try await script.client.records("orders").update("o1") { record in
            ["n": .number(JSONNumber((record["n"]?.int ?? 0) + 1))]
        }
        let requests = await script.requests
        #expect(requests.compactMap { $0.headers["If-Match"] } == ["\"t1\"", "\"t2\""])
        #expect(requests.last.flatMap(\.body).map { String(decoding: $0, as: UTF8.self) } == #"{"n":3}"#)
    }

    @Test("a cancelled task ends its call")
    func cancels() async throws {
        let script = Script(.failure(.unreachable("refused")))
        let client = RepairminderClient(
            transport: script, retry: RetryPolicy(attempts: 2, firstPause: .seconds(600), longestPause: .seconds(600)))
        let call = Task { try await client.daemon.status() }
        call.cancel()
        await #expect(throws: ClientError.cancelled) { try await call.value }
    }
}
