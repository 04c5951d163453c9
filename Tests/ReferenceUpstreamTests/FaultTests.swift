import JSONText
import ReferenceUpstream
import SocketServer
import TestSupport
import Testing

@Suite("Faults")
struct FaultTests {
    private let order = #"{"id":"o1","status":"booked_in"}"#
    private let body = #"{"status":"ready"}"#

    private func shop(_ rules: Faults.Rule..., seed: UInt64 = 1) throws -> Harness {
        try Harness(TestSchema.repairminder(), ["orders": [order]], seed: seed) { $0.faults = Faults(rules) }
    }

    private func status(_ harness: Harness) -> JSONText? { harness.upstream.record("orders", "o1")?["status"] }

    @Test("the next requests fail with the given status and apply nothing, then requests succeed")
    func failNext() async throws {
        let harness = try shop(.init(.fail(status: 500), next: 2))
        for _ in 1...2 {
            let reply = try await harness.send("PATCH", "/api/orders/o1", body)
            #expect(reply.status == 500)
            #expect(try reply.at("success") == false)
        }
        #expect(status(harness) == "booked_in")
        #expect(try await harness.send("PATCH", "/api/orders/o1", body).status == 200)
        #expect(harness.upstream.log.map(\.fault) == ["fail 500", "fail 500", nil])
        #expect(harness.upstream.log.map(\.applied) == [false, false, true])
    }

    @Test("an error rate affects its share of requests, the same ones for the same seed")
    func rate() async throws {
        func course(seed: UInt64) async throws -> [Int] {
            let harness = try shop(.init(.fail(status: 503), rate: 0.25), seed: seed)
            var statuses: [Int] = []
            for _ in 0..<1000 { statuses.append(try await harness.get("/api/orders/o1").status) }
            return statuses
        }
        let first = try await course(seed: 1)
        #expect(try await course(seed: 1) == first)
        #expect(try await course(seed: 2) != first)
        #expect((200...300).contains(first.count { $0 == 503 }))
    }

    @Test("a failure has the configured Retry-After")
    func retryAfter() async throws {
        let reply = try await shop(.init(.fail(status: 429, retryAfter: "7"))).get("/api/orders")
        #expect(reply.status == 429)
        #expect(reply.header("Retry-After") == "7")
    }

    @Test("latency delays every response, and waits add up")
    func latency() async throws {
        let harness = try shop(
            .init(.latency(.milliseconds(50))), .init(.latency(.milliseconds(20))), .init(.fail(status: 500), next: 1))
        #expect(try await harness.get("/api/orders").status == 500)
        #expect(try await harness.get("/api/orders").status == 200)
        #expect(harness.clock.sleeps == [.milliseconds(70), .milliseconds(70)])
    }

    @Test("a truncated body has only its first half, and the full Content-Length")
    func cut() async throws {
        let harness = try shop(.init(.cutBody, next: 1))
        let reply = try await harness.send("PATCH", "/api/orders/o1", body)
        let whole = try await harness.get("/api/orders/o1")
        #expect(reply.response.ending == .cutOff(length: whole.body.count))
        #expect(reply.body == Array(whole.body.prefix(whole.body.count / 2)))
        #expect(throws: JSONError.self) { try reply.json() }
        #expect(status(harness) == "ready")
    }

    @Test("a timeout after applying applies the change, and ends without a response when the caller disconnects")
    func timeoutAfterApply() async throws {
        let harness = try shop(.init(.timeoutAfterApply(hold: .seconds(60)), next: 1))
        harness.clock.stop()
        let call = Task { try await harness.send("PATCH", "/api/orders/o1", body) }
        await harness.clock.sleepBegins()
        #expect(status(harness) == "ready")
        #expect(harness.upstream.log.first?.status == nil)
        call.cancel()
        await #expect(throws: BrokenExchange.unanswered) { try await call.value }
        #expect(harness.upstream.log.first?.applied == true)
    }

    @Test("a timeout after applying ends without a response after its time, and a repeat gets one")
    func timeoutEnds() async throws {
        let harness = try shop(.init(.timeoutAfterApply(hold: .seconds(60)), next: 1))
        let key = [("Idempotency-Key", "k")]
        await #expect(throws: BrokenExchange.unanswered) {
            try await harness.send("PATCH", "/api/orders/o1", body, headers: key)
        }
        #expect(harness.clock.sleeps == [.seconds(60)])
        #expect(try await harness.send("PATCH", "/api/orders/o1", body, headers: key).status == 200)
        #expect(harness.upstream.log.map(\.applied) == [true, false])
    }

    @Test("a held request is applied after its time")
    func hold() async throws {
        let harness = try shop(.init(.hold(.seconds(2))))
        #expect(try await harness.send("PATCH", "/api/orders/o1", body).status == 200)
        #expect(harness.clock.sleeps == [.seconds(2)])
    }

    @Test("a held request is not applied when the caller disconnects")
    func abandoned() async throws {
        let harness = try shop(.init(.hold(.seconds(2))))
        harness.clock.stop()
        let call = Task { try await harness.send("PATCH", "/api/orders/o1", body) }
        await harness.clock.sleepBegins()
        call.cancel()
        await #expect(throws: BrokenExchange.abandoned) { try await call.value }
        #expect(status(harness) == "booked_in")
    }

    @Test("an offline upstream refuses, and over a socket closes without a response")
    func offline() async throws {
        let harness = try shop(.init(.offline))
        await #expect(throws: BrokenExchange.refused) { try await harness.send("PATCH", "/api/orders/o1", body) }
        #expect(status(harness) == "booked_in")
        let response = await harness.upstream.respond(to: Request(method: "GET", path: "/api/orders"))
        #expect(response.ending == .unanswered)
        harness.upstream.faults = Faults()
        #expect(try await harness.get("/api/orders").status == 200)
    }

    @Test("a rule applies to its method and path, and counts only those")
    func scope() async throws {
        let harness = try shop(.init(.fail(status: 500), next: 1, method: "PATCH", path: "/api/orders"))
        #expect(try await harness.get("/api/orders").status == 200)
        #expect(try await harness.get("/api/clients").status == 200)
        #expect(try await harness.send("PATCH", "/api/devices/x", body).status == 404)
        #expect(harness.upstream.faults.rules.map(\.next) == [1])
        #expect(try await harness.send("PATCH", "/api/orders/o1", body).status == 500)
        #expect(harness.upstream.faults.rules.map(\.next) == [0])
    }

    @Test("of two failures the first wins, and the second keeps its count")
    func firstWins() async throws {
        let harness = try shop(.init(.fail(status: 500), next: 1), .init(.fail(status: 502), next: 1))
        #expect(try await harness.get("/api/orders").status == 500)
        #expect(try await harness.get("/api/orders").status == 502)
        #expect(try await harness.get("/api/orders").status == 200)
    }
}
