import EntitySchema
import Synchronization
import TestSupport
import Testing

@testable import Upstream

@Suite("The server's clock")
struct ServerClockTests {
    /// A wall clock that can be set, and a monotonic one.
    private final class Machine: Sendable {
        private let state = Mutex((wall: Timestamp.sample, monotonic: Duration.seconds(1000)))

        var wall: Timestamp { state.withLock { $0.wall } }
        var monotonic: Duration { state.withLock { $0.monotonic } }

        func pass(_ time: Duration) {
            state.withLock { $0 = ($0.wall + time, $0.monotonic + time) }
        }

        func set(ahead by: Duration) {
            state.withLock { $0.wall = $0.wall + by }
        }
    }

    private let machine = Machine()

    private func clock(initialOffset: Duration? = nil) -> ServerClock {
        ServerClock(
            now: { [machine] in machine.wall }, monotonic: { [machine] in machine.monotonic },
            initialOffset: initialOffset)
    }

    /// One exchange with a server this far ahead of the true time, which the machine's wall clock shows unless set.
    private func exchange(_ clock: ServerClock, ahead: Duration, takes: Duration = .zero) {
        let sentAt = machine.monotonic
        let middle = machine.wall + takes / 2 + ahead
        machine.pass(takes)
        let date = Timestamp(milliseconds: middle.milliseconds / 1000 * 1000)
        clock.observe(date: date, sentAt: sentAt, receivedAt: machine.monotonic)
    }

    @Test("is unknown before the first response, or as the previous run measured it")
    func initial() {
        #expect(clock().offset == nil)
        let clock = clock(initialOffset: .seconds(-40))
        #expect(clock.offset == .seconds(-40))
        exchange(clock, ahead: .seconds(-38))
        #expect(clock.offset == .seconds(-38) + .milliseconds(500), "the first answer replaces it completely")
    }

    @Test("is computed from the middle of the exchange and of the Date's second")
    func middle() {
        let clock = clock()
        exchange(clock, ahead: .seconds(100), takes: .milliseconds(2000))
        #expect(clock.offset == .milliseconds(100_500))
    }

    @Test("becomes more accurate with every response")
    func smoothing() {
        let clock = clock()
        for _ in 1...200 {
            exchange(clock, ahead: .milliseconds(2300), takes: .milliseconds(40))
            machine.pass(.milliseconds(1337))
        }
        let error = (clock.offset ?? .zero) - .milliseconds(2300)
        #expect(error > .milliseconds(-350) && error < .milliseconds(350))
    }

    @Test("follows a change of this machine's clock at once", arguments: [3600, -86_400])
    func localJump(_ seconds: Int) {
        let clock = clock()
        exchange(clock, ahead: .seconds(2))
        machine.set(ahead: .seconds(seconds))
        #expect(clock.offset == .milliseconds(2500) - .seconds(seconds))
    }

    @Test("follows the next response while no two have agreed")
    func unconfirmed() {
        let clock = clock()
        exchange(clock, ahead: .zero)
        exchange(clock, ahead: .seconds(600))
        #expect(clock.offset == .milliseconds(600_500))
        exchange(clock, ahead: .seconds(601))
        #expect(
            clock.offset == .milliseconds(600_700),
            "a small difference counts as noise, and a fifth of it is taken over")
    }

    /// A clock that two answers agree on.
    private func confirmed() -> ServerClock {
        let clock = clock()
        for _ in 1...2 { exchange(clock, ahead: .zero) }
        return clock
    }

    @Test("follows a change of the server's clock once answers have agreed on it for a while", arguments: [600, -600])
    func serverJump(_ seconds: Int) {
        let clock = confirmed()
        exchange(clock, ahead: .seconds(seconds))
        machine.pass(.seconds(14))
        exchange(clock, ahead: .seconds(seconds))
        #expect(clock.offset == .milliseconds(500))
        machine.pass(.seconds(1))
        exchange(clock, ahead: .seconds(seconds))
        #expect(clock.offset == .seconds(seconds) + .milliseconds(500))
    }

    @Test("does not believe a wrong Date that other answers contradict", arguments: [864_000, -864_000])
    func wrongDate(_ seconds: Int) {
        let clock = confirmed()
        for _ in 1...10 {
            exchange(clock, ahead: .seconds(seconds))
            machine.pass(.seconds(20))
            exchange(clock, ahead: .zero)
            #expect(clock.offset == .milliseconds(500))
        }
    }

    @Test("does not believe a Date that stands still", arguments: [-3600, 3600])
    func staleDate(_ seconds: Int) {
        let clock = confirmed()
        let stale = machine.wall + .seconds(seconds)
        for _ in 1...20 {
            clock.observe(date: stale, sentAt: machine.monotonic, receivedAt: machine.monotonic)
            machine.pass(.seconds(3))
        }
        #expect(clock.offset == .milliseconds(500))
    }

    @Test("replaces what a slow response said at once when a fast one says better")
    func slowFirst() {
        let clock = clock()
        let sentAt = machine.monotonic
        let date = Timestamp(milliseconds: machine.wall.milliseconds / 1000 * 1000)
        machine.pass(.seconds(30))
        for _ in 1...2 { clock.observe(date: date, sentAt: sentAt, receivedAt: machine.monotonic) }
        #expect(clock.offset == .milliseconds(-14_500))
        exchange(clock, ahead: .zero)
        #expect(clock.offset == .milliseconds(500))
    }

    @Test("is not changed by a slow response that agrees with it")
    func slow() {
        let clock = clock()
        exchange(clock, ahead: .zero)
        for late in [Duration.zero, .seconds(30)] {
            let sentAt = machine.monotonic
            let date = Timestamp(milliseconds: (machine.wall + late).milliseconds / 1000 * 1000)
            machine.pass(.seconds(30))
            clock.observe(date: date, sentAt: sentAt, receivedAt: machine.monotonic)
            #expect(clock.offset == .milliseconds(500))
        }
    }

    @Test("observes responses of every status, but no cached copies or invalid dates")
    func answers() {
        let clock = clock()
        let date = HTTPHeader("date", "Sat, 21 Nov 2026 10:42:10 GMT")
        func answer(_ headers: HTTPHeader...) -> HTTPResponse { HTTPResponse(status: 500, headers: headers) }
        clock.observe(answer(), sentAt: machine.monotonic)
        clock.observe(answer(HTTPHeader("Date", "yesterday")), sentAt: machine.monotonic)
        clock.observe(answer(date, HTTPHeader("Age", "60")), sentAt: machine.monotonic)
        #expect(clock.offset == nil)
        clock.observe(answer(date), sentAt: machine.monotonic)
        #expect(clock.offset == .milliseconds(10_500))
    }

    @Test("observes every response of the upstream")
    func upstream() async throws {
        let clock = clock()
        let transport = ScriptedTransport { _ in
            HTTPResponse.json(404, "{}", [HTTPHeader("Date", "Sat, 21 Nov 2026 10:42:20 GMT")])
        }
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example" }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let upstream = HTTPUpstream(
            UpstreamAccess(
                plan: schema.upstream, transport: transport, clock: clock, now: { [machine] in machine.wall }),
            token: nil)
        try await upstream.probe()
        #expect(clock.offset == .milliseconds(20_500))
    }
}
