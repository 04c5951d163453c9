import LocalAPI
import Synchronization
import Testing

@testable import repairminder_sync

@Suite("A call about a change that is being sent")
struct BusyChangeTests {
    /// What becomes of a call that first gets `problems`, each of this code, and how often it is made.
    private func outcome(problems: Int, code: String) async -> (isDone: Bool, calls: Int) {
        let calls = Mutex(0)
        do {
            try await BusyChange.waiting(pause: {}) { () throws(LocalAPIError) in
                let made = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if made <= problems { throw .problem(LocalAPIProblem(status: 409, title: "Conflict", code: code)) }
            }
            return (true, calls.withLock(\.self))
        } catch {
            return (false, calls.withLock(\.self))
        }
    }

    @Test("is made again once the change's outcome is known")
    func waits() async {
        let (isDone, calls) = await outcome(problems: 3, code: "busy")
        #expect(isDone && calls == 4)
    }

    @Test("fails after half a minute")
    func ends() async {
        let (isDone, calls) = await outcome(problems: 99, code: "busy")
        #expect(!isDone && calls == BusyChange.tries)
    }

    @Test("fails at once for any other reason")
    func other() async {
        let (isDone, calls) = await outcome(problems: 1, code: "conflict")
        #expect(!isDone && calls == 1)
    }
}
