import SyncEngine
import Testing

@Suite("Retry policy")
struct RetryPolicyTests {
    private let policy = RetryPolicy(maximumAttempts: 10, base: .seconds(2), cap: .seconds(300))

    @Test(
        "the longest delay doubles with each attempt, up to the cap",
        arguments: [
            (1, 2), (2, 4), (5, 32), (8, 256), (9, 300), (1000, 300), (Int.max, 300),
        ])
    func doubles(_ attempt: Int, _ seconds: Int) {
        #expect(policy.delay(attempt: attempt, random: 1) == .seconds(seconds))
    }

    @Test("jitter is full: any delay from zero to the longest")
    func jitter() {
        #expect(policy.delay(attempt: 3, random: 0) == .zero)
        #expect(policy.delay(attempt: 3, random: 0.25) == .seconds(2))
    }

    @Test("after a pause that is not counted, the next one is as long to twice as long, from the base up to the cap")
    func uncounted() {
        #expect(policy.delay(after: .zero, random: 0) == .seconds(2))
        #expect(policy.delay(after: .seconds(-60), random: 0.5) == .seconds(3))
        #expect(policy.delay(after: .seconds(20), random: 0) == .seconds(20))
        #expect(policy.delay(after: .seconds(20), random: 0.5) == .seconds(30))
        #expect(policy.delay(after: .seconds(200), random: 0.75) == .seconds(300))
        #expect(policy.delay(after: .seconds(86_400), random: 0) == .seconds(300))
    }

    @Test("the last attempt is the policy's maximum")
    func last() {
        #expect(!policy.isLast(attempt: 9))
        #expect(policy.isLast(attempt: 10))
    }
}
