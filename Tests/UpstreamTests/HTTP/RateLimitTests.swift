import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// How long a response asks to wait.
@Suite("Rate limits")
struct RateLimitTests {
    // Sun, 06 Nov 1994 08:49:37 GMT
    private static let now = Timestamp(milliseconds: 784_111_777_000)
    // Sat, 21 Nov 2026 10:42:00 GMT
    private static let today = Timestamp.sample

    @Test(
        "seconds and dates are read, never negative, never more than an hour",
        arguments: [
            ("0", 0), ("120", 120), ("99999", 3600), ("99999999999999999999", 3600),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:40:00 GMT", 0),
            ("1994-11-06T08:50:37Z", 60), ("Fri, 01 Jan 2100 00:00:00 GMT", 3600),
        ])
    func reads(_ text: String, _ seconds: Int) {
        #expect(RateLimit(now: Self.now).delay(text) == .seconds(seconds))
    }

    @Test(
        "a large number is a time since 1970, in seconds or milliseconds",
        arguments: [(1.5, "1.5"), (90.0, ""), (90.0, "000"), (0.25, "0.25")])
    func times(_ seconds: Double, _ suffix: String) {
        let time = (Self.today + .seconds(90)).milliseconds
        let text = suffix.contains(".") ? suffix : "\(time / 1000)\(suffix)"
        #expect(RateLimit(now: Self.today).delay(text) == .milliseconds(Int64(seconds * 1000)))
    }

    @Test(
        "anything else is no delay",
        arguments: [
            "", "soon", "-1", "1 2", "1.2.3", ".", "Sun, 06 Foo 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        ])
    func refuses(_ text: String) {
        #expect(RateLimit(now: Self.now).delay(text) == nil)
    }

    @Test(
        "429 waits until the time in a header for resets, and Retry-After comes first",
        arguments: [
            ("RateLimit-Reset: 17", 17.0), ("X-RateLimit-Reset-After: 3.5", 3.5),
            ("X-RateLimit-Reset: \(today.milliseconds / 1000 + 40)", 40.0),
            ("X-Rate-Limit-Reset: \(today.milliseconds / 1000 + 40); Retry-After: 2", 2.0),
            ("X-RateLimit-Reset: never", 30.0),
        ])
    func resets(_ fields: String, _ seconds: Double) async throws {
        let headers = fields.split(separator: "; ").map { $0.split(separator: ": ").map(String.init) }
        #expect(try await delay(429, headers.map { ($0[0], $0[1]) }) == .milliseconds(Int64(seconds * 1000)))
    }

    @Test(
        "a time counts from the answer's own date, whatever this machine's clock says",
        arguments: ["Retry-After", "X-RateLimit-Reset"])
    func serverTime(_ name: String) async throws {
        for (date, limit) in [
            ("Sat, 21 Nov 2026 11:22:00 GMT", "Sat, 21 Nov 2026 11:22:03 GMT"),
            ("Sat, 21 Nov 2026 10:02:00 GMT", "Sat, 21 Nov 2026 10:02:03 GMT"),
        ] {
            let time = try #require(Timestamp(httpDate: limit))
            let value = name == "Retry-After" ? limit : "\(time.milliseconds / 1000)"
            #expect(try await delay(429, [("Date", date), (name, value)]) == .seconds(3))
        }
    }

    @Test("without a date of its own, or with a cached one, it counts from the server's clock as it was measured")
    func measuredTime() async throws {
        let limit = "Sat, 21 Nov 2026 11:22:03 GMT"
        let offset = Duration.seconds(2400)
        #expect(try await delay(429, [("Retry-After", limit)], offset: offset) == .seconds(3))
        let cached = [("Date", "Sat, 21 Nov 2026 09:00:00 GMT"), ("Age", "60"), ("Retry-After", limit)]
        #expect(try await delay(429, cached, offset: offset) == .seconds(3))
    }

    @Test(
        "a wrong date of an answer ends no wait at once, and makes it no longer than it is",
        arguments: [864_000, -864_000])
    func wrongDate(_ seconds: Int) {
        let limit = RateLimit(now: Self.today + .seconds(seconds), measured: Self.today)
        #expect(limit.delay("Sat, 21 Nov 2026 10:43:00 GMT") == .seconds(60))
        #expect(limit.delay("60") == .seconds(60))
    }

    @Test("403 with no requests left and a reset waits; without the reset, or with some left, it concerns the account")
    func forbidden() async throws {
        let reset = ("X-RateLimit-Reset", "\(Self.today.milliseconds / 1000 + 40)")
        #expect(try await delay(403, [("X-RateLimit-Remaining", "0"), reset]) == .seconds(40))
        #expect(try await delay(403, [("X-RateLimit-Remaining", "1"), reset]) == nil)
        #expect(try await delay(403, [("X-RateLimit-Remaining", "0")]) == nil)
        #expect(try await delay(403, [reset]) == nil)
    }

    @Test(
        "403 with a time to retry waits, whatever number of requests is left; without a time that can be read it does not"
    )
    func forbiddenForAWhile() async throws {
        #expect(try await delay(403, [("Retry-After", "7"), ("X-RateLimit-Remaining", "4800")]) == .seconds(7))
        #expect(try await delay(403, [("Retry-After", "later")]) == nil)
        #expect(try await delay(402, [("Retry-After", "7")]) == nil)
    }

    @Test("a server error waits as retries do, though every answer of the server has a reset")
    func serverError() async throws {
        #expect(try await delay(503, [("X-RateLimit-Reset", "3000")]) == nil)
    }

    @Test(
        "429 without a time waits as long as the declared limit says, of several the one with the least left",
        arguments: [
            ("{ requests: 100, per: 2m }", 120.0), ("{ requests: 100, per: 24h }", 3600.0),
            ("[{ requests: 100, per: 1h }, { requests: 10, per: 5s }]", 5.0), ("{ parallel: 2 }", 30.0),
        ])
    func declared(_ limits: String, _ seconds: Double) async throws {
        #expect(try await delay(429, [], limits: limits) == .milliseconds(Int64(seconds * 1000)))
        #expect(try await delay(429, [("Retry-After", "7")], limits: limits) == .seconds(7))
    }

    @Test("429 without another time waits until the reset that the schema names, if nothing is left")
    func declaredReset() async throws {
        let limits = "{ requests: 100, per: 1m, remaining: X-Left, reset: X-Until }"
        #expect(try await delay(429, [("X-Left", "0"), ("X-Until", "12")], limits: limits) == .seconds(12))
        #expect(try await delay(429, [("X-Left", "9"), ("X-Until", "12")], limits: limits) == .seconds(60))
    }

    @Test(
        "a header whose name says milliseconds counts them",
        arguments: [("X-Time-Reset-Ms", 1.5), ("x-reset-ms", 1.5), ("X-Reset-Items", 1500.0)])
    func milliseconds(_ name: String, _ seconds: Double) async throws {
        let limits = "{ requests: 100, per: 1m, remaining: X-Left, reset: \(name) }"
        let delay = try await delay(429, [("X-Left", "0"), (name, "1500")], limits: limits)
        #expect(delay == .milliseconds(Int64(seconds * 1000)))
    }

    /// Nil if the answer does not throttle. `offset`: how far the server's clock was ahead so far.
    private func delay(
        _ status: Int, _ fields: [(String, String)], limits: String? = nil, offset: Duration? = nil
    ) async throws -> Duration? {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example"\(limits.map { ", limits: \($0)" } ?? "") }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { _ in
            HTTPResponse.json(status, "{}", fields.map { HTTPHeader($0.0, $0.1) })
        }
        let clock = ServerClock(now: { Self.today }, monotonic: { .zero }, initialOffset: offset)
        let budget = schema.upstream.limits.map { limits in
            RequestBudget(limits: limits, monotonic: { .zero }, sleep: { try await ContinuousClock().sleep(for: $0) })
        }
        let upstream = HTTPUpstream(
            UpstreamAccess(
                plan: schema.upstream, transport: transport, clock: clock, budget: budget, now: { Self.today }),
            token: nil)
        let error = await #expect(throws: UpstreamError.self) {
            try await upstream.push(PushRequest(method: "PATCH", path: "/orders/1", body: "{}"), idempotencyKey: "k")
        }
        if case .throttled(let delay, _)? = error { return delay }
        return nil
    }
}
