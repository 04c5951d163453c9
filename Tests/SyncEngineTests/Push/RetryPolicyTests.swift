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

    @Test("the last attempt is the policy's maximum")
    func last() {
        #expect(!policy.isLast(attempt: 9))
        #expect(policy.isLast(attempt: 10))
    }
}
