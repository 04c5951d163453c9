import EntitySchema
import Synchronization
import TestSupport
import Testing

@testable import Upstream

/// Who may send when, by a manual clock.
@Suite("The budget of requests")
struct RequestBudgetTests {
    private let clock = ManualClock()
    private let entered = Log()

    private final class Log: Sendable {
        private let names = Mutex<[String]>([])
        private let waits = Mutex<[(name: String, wait: Duration)]>([])

        var all: [String] { names.withLock { $0 } }
        var waited: [Duration] { waits.withLock { $0.map(\.wait) } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
        func add(_ wait: Duration, of name: String) { waits.withLock { $0.append((name, wait)) } }
        func knows(_ name: String) -> Bool {
            all.contains(name) || waits.withLock { $0.contains { $0.name == name } }
        }
    }

    private func budget(
        _ windows: [(requests: Int, span: Duration)] = [], parallel: Int? = nil, headers: Bool = false,
        ages: [Duration] = []
    ) -> RequestBudget {
        let limits = RequestLimits(
            windows: windows.map { RequestLimits.Window(requests: $0.requests, span: $0.span) }, parallel: parallel,
            remainingHeader: headers ? "X-Left" : nil, resetHeader: headers ? "X-Reset" : nil)
        let start = clock.now
        return RequestBudget(
            limits: limits, ages: ages, monotonic: { [clock] in start.duration(to: clock.now) },
            sleep: { [clock] in try await clock.sleep(for: $0) })
    }

    /// Enters and leaves at once.
    private func pass(
        _ budget: RequestBudget, _ urgency: RequestBudget.Urgency = .urgent, left: String? = nil, reset: String = "60"
    ) async throws {
        let pass = try await budget.enter(urgency) { _ in }
        let headers = left.map { [HTTPHeader("X-Left", $0), HTTPHeader("X-Reset", reset)] } ?? []
        let response = HTTPResponse(status: 200, headers: headers)
        budget.leave(pass, RateLimit(now: clock.timestamp).stated(response, budget.limits))
    }

    /// Enters when it may, and adds its name. Returns when it has entered or was told to wait.
    private func waiting(
        _ name: String, _ budget: RequestBudget, _ urgency: RequestBudget.Urgency = .urgent
    ) async -> Task<RequestBudget.Pass, any Error> {
        let task = Task { [entered] in
            let pass = try await budget.enter(urgency) { entered.add($0, of: name) }
            entered.add(name)
            return pass
        }
        while !entered.knows(name) { await Task.yield() }
        return task
    }

    @Test("an answer that asks to wait without a time means the limit with the least left")
    func unstatedWait() {
        let limits: [(requests: Int, span: Duration)] = [(10, .seconds(5)), (12, .seconds(60))]
        #expect(budget(limits).delay(nil) == .seconds(5))
        let ages = Array(repeating: Duration.seconds(20), count: 10)
        #expect(budget(limits, ages: ages).delay(nil) == .seconds(60))
        #expect(budget(parallel: 2).delay(nil) == nil)
    }

    @Test("a request beyond the limit waits until the oldest answer is as old as the span")
    func window() async throws {
        let budget = budget([(3, .seconds(60))])
        try await pass(budget)
        clock.advance(by: .seconds(10))
        try await pass(budget)
        try await pass(budget)
        #expect(budget.balance.remaining == 0)
        let fourth = await waiting("fourth", budget)
        #expect(budget.balance.waiting == 1 && entered.waited == [.seconds(50)])
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(50))
        _ = try await fourth.value
        #expect(
            budget.balance
                == RequestBudget.Balance(
                    remaining: 0, window: RequestLimits.Window(requests: 3, span: .seconds(60)), waiting: 0))
    }

    @Test("a request under way counts until the span after its answer")
    func underWay() async throws {
        let budget = budget([(1, .seconds(10))])
        let first = try await budget.enter(.urgent) { _ in }
        let second = await waiting("second", budget)
        clock.advance(by: .seconds(100))
        #expect(entered.all.isEmpty)
        budget.leave(first)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        _ = try await second.value
    }

    @Test("a change passes before pulls that came earlier")
    func order() async throws {
        let budget = budget(parallel: 1)
        let first = try await budget.enter(.urgent) { _ in }
        let pull = await waiting("pull", budget, .background)
        let change = await waiting("change", budget)
        budget.leave(first)
        let second = try await change.value
        #expect(entered.all == ["change"])
        budget.leave(second)
        _ = try await pull.value
        #expect(entered.all == ["change", "pull"])
    }

    @Test("pulls leave a fifth of the limit to changes")
    func reserve() async throws {
        let budget = budget([(10, .seconds(60))])
        for _ in 0..<8 { try await pass(budget, .background) }
        let pull = await waiting("pull", budget, .background)
        try await pass(budget)
        try await pass(budget)
        #expect(budget.balance.remaining == 0 && entered.all.isEmpty)
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
    }

    @Test("pulls leave one request of a small limit to changes", arguments: [4, 2])
    func smallReserve(requests: Int) async throws {
        let budget = budget([(requests, .seconds(60))])
        for _ in 1..<requests { try await pass(budget, .background) }
        let pull = await waiting("pull", budget, .background)
        try await pass(budget)
        #expect(budget.balance.remaining == 0 && entered.all.isEmpty)
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
    }

    @Test("a pull may use a limit of one request")
    func single() async throws {
        let budget = budget([(1, .seconds(60))])
        try await pass(budget, .background)
        #expect(budget.balance.remaining == 0)
    }

    @Test("of several limits the one with the least left counts")
    func windows() async throws {
        let budget = budget([(2, .seconds(1)), (3, .seconds(60))])
        try await pass(budget)
        try await pass(budget)
        #expect(budget.balance.window?.requests == 2)
        clock.advance(by: .seconds(1))
        try await pass(budget)
        #expect(budget.balance.window?.requests == 3)
        let fourth = await waiting("fourth", budget)
        #expect(entered.waited == [.seconds(59)])
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(59))
        _ = try await fourth.value
    }

    @Test("what an earlier process has sent counts")
    func restart() async throws {
        let budget = budget([(2, .seconds(60))], ages: [.seconds(5), .seconds(20), .seconds(90)])
        #expect(budget.balance.remaining == 0)
        let request = await waiting("request", budget)
        #expect(entered.waited == [.seconds(40)])
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(40))
        _ = try await request.value
    }

    @Test("answers that say how many requests are left are believed until they reset")
    func stated() async throws {
        let budget = budget(headers: true)
        try await pass(budget, left: "1")
        #expect(budget.balance.remaining == 1)
        let pull = await waiting("pull", budget, .background)
        try await pass(budget, left: "0")
        let change = await waiting("change", budget)
        #expect(entered.all.isEmpty && budget.balance.remaining == 0)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await change.value
        _ = try await pull.value
        #expect(entered.all.count == 2)
    }

    @Test("an answer that says that less than nothing is left says that nothing is")
    func statedBelowZero() async throws {
        let budget = budget(headers: true)
        try await pass(budget, left: "\(Int.min)", reset: "0")
        try await pass(budget, left: "\(Int.min)")
        #expect(budget.balance.remaining == 0)
    }

    @Test("an answer that was overtaken does not raise what is left")
    func overtaken() async throws {
        let budget = budget(headers: true)
        try await pass(budget, left: "5")
        try await pass(budget, left: "9")
        #expect(budget.balance.remaining == 4)
    }

    @Test("a wait that is cancelled takes nothing")
    func cancelled() async throws {
        let budget = budget([(1, .seconds(60))], ages: [.zero])
        let request = await waiting("request", budget)
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(budget.balance.waiting == 0)
        clock.advance(by: .seconds(60))
        try await pass(budget)
    }
}
