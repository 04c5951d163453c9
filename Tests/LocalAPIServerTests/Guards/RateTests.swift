import Logging
import SocketServer
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Rate limits")
struct RateTests {
    @Test("refused callers of many users, as one person has in a user namespace, do not fill the log")
    func refusals() async throws {
        let recorder = LogLines(from: .trace)
        let api = try TestAPI(log: recorder.logger)
        for user in 0..<300 {
            let caller = Caller(user: 100_000 + UInt32(user), access: .stranger)
            #expect(await api.call("GET", "/v1/status", headers: ["Authorization": nil], caller: caller).status == 401)
        }
        #expect(recorder.all.count { $0.message == "refused a caller" } == 100)
    }

    @Test("a burst is allowed, then a fixed rate, for each caller separately")
    func bucket() {
        let clock = Instants()
        let limit = RateLimit(perSecond: 10, burst: 3) { clock.now }
        for _ in 0..<3 { #expect(limit.take(.user(1)) == nil) }
        #expect(Self.wait(limit.take(.user(1))) == 100)
        #expect(limit.take(.user(2)) == nil)
        clock.pass(.milliseconds(250))
        #expect(limit.take(.user(1)) == nil)
        #expect(limit.take(.user(1)) == nil)
        #expect(Self.wait(limit.take(.user(1))) == 50)
        clock.pass(.seconds(3600))
        for _ in 0..<3 { #expect(limit.take(.user(1)) == nil) }
        #expect(limit.take(.user(1)) != nil)
    }

    /// In whole milliseconds.
    private static func wait(_ duration: Duration?) -> Double? { duration.map { ($0 / .milliseconds(1)).rounded() } }

    @Test(
        "all addresses of one network of IPv6, and all of loopback, share one rate, because one machine can have them all"
    )
    func networks() {
        let limit = RateLimit(perSecond: 1, burst: 2) { [now = ContinuousClock.now] in now }
        func isAllowed(_ address: String) -> Bool {
            let end = Peer.Endpoint(address: address, port: 1)
            let peer = Peer.tcp(remote: end, local: Peer.Endpoint(address: "::1", port: 2))
            return limit.take(RateLimit.Key(Request(method: "GET", path: "/", peer: peer))) == nil
        }
        #expect(isAllowed("2001:db8::1") && isAllowed("2001:db8::2") && !isAllowed("2001:db8::ffff:3"))
        #expect(isAllowed("2001:db8:0:1::1"))
        #expect(isAllowed("127.0.0.1") && isAllowed("127.9.9.9") && !isAllowed("::1"))
        #expect(isAllowed("192.0.2.1") && isAllowed("192.0.2.2") && isAllowed("192.0.2.1") && !isAllowed("192.0.2.1"))
    }

    @Test("many callers cost bounded memory, and callers over the rate stay known")
    func manyCallers() {
        let clock = Instants()
        let limit = RateLimit(perSecond: 1, burst: 1) { clock.now }
        #expect(limit.take(.user(0)) == nil)
        clock.pass(.milliseconds(500))
        for user in 1..<1024 { _ = limit.take(.user(UInt32(user))) }
        clock.pass(.milliseconds(500))
        #expect(limit.take(.user(5000)) == nil)
        #expect(limit.take(.user(1)) != nil)
    }

    @Test("a caller refused too often gets 429 with Retry-After instead of 401, and the token still works")
    func refusals() throws {
        let clock = Instants()
        let guarding = CallerGuard(token: "secret", owners: [], group: nil) { clock.now }
        let stranger = Caller(user: 1001, access: .stranger)
        for _ in 0..<100 { #expect(Self.check(guarding, stranger)?.status == 401) }
        let problem = try #require(Self.check(guarding, stranger))
        #expect(problem.status == 429)
        #expect(problem.headers.contains { $0.name == "Retry-After" && $0.value == "1" })
        #expect(Self.check(guarding, Caller(user: 1002, access: .stranger))?.status == 401)
        #expect(Self.check(guarding, stranger, token: "secret") == nil)
        #expect(Self.check(guarding, stranger, path: "/healthz") == nil)
        clock.pass(.seconds(1))
        #expect(Self.check(guarding, stranger)?.status == 401)
    }

    @Test("with a rate even the owner gets 429 beyond it; without one no known caller does")
    func rate() {
        let clock = Instants()
        let root = Caller(user: 0, access: .owner)
        let limited = CallerGuard(token: "secret", owners: [0], group: nil, rate: 5) { clock.now }
        for _ in 0..<10 { #expect(Self.check(limited, root) == nil) }
        #expect(Self.check(limited, root)?.status == 429)
        clock.pass(.seconds(1))
        #expect(Self.check(limited, root) == nil)
        let free = CallerGuard(token: "secret", owners: [0], group: nil) { clock.now }
        for _ in 0..<10_000 { #expect(Self.check(free, root) == nil) }
    }

    private static func check(
        _ guarding: CallerGuard, _ caller: Caller, token: String? = nil, path: String = "/v1/status"
    ) -> Problem? {
        var headers = Headers()
        headers.append(name: "Host", value: "localhost")
        if let token { headers.append(name: "Authorization", value: "Bearer \(token)") }
        do throws(Problem) {
            try guarding.check(
                Request(method: "GET", path: path, headers: headers, caller: caller), isOpen: path == "/healthz")
            return nil
        } catch {
            return error
        }
    }
}

/// A clock that the test moves.
final class Instants: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock(\.self) }

    func pass(_ duration: Duration) { instant.withLock { $0 += duration } }
}
