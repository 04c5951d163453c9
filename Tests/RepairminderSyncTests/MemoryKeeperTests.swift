import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Releasing memory")
struct MemoryKeeperTests {
    /// Records what a keeper does, in order; also a clock whose sleeps end immediately.
    private final class Notes: Clock, Sendable {
        let all = Mutex<[String]>([])

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func add(_ note: String) { all.withLock { $0.append(note) } }
        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { add("rested") }
    }

    /// Runs a keeper for as many rounds as there are answers for `isBusy`.
    private func notes(busy: [Bool]) async -> [String] {
        let notes = Notes()
        let answers = Mutex(busy)
        let keeper = MemoryKeeper(
            watch: {
                notes.add("looked")
                return {
                    notes.add("waited")
                    if answers.withLock({ $0.isEmpty }) { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }, isBusy: { answers.withLock { $0.removeFirst() } }, clock: notes,
            releaseMemory: { notes.add("gave back") })
        await Task { _ = await #expect(throws: CancellationError.self) { try await keeper.run() } }.value
        return notes.all.withLock { $0 }
    }

    @Test("memory is released twice after the start, and again only after something has happened")
    func quiet() async {
        #expect(
            await notes(busy: [false, false])
                == [
                    "rested", "gave back", "looked", "rested", "gave back", "waited", "looked", "rested", "gave back",
                    "waited",
                ])
    }

    @Test("only the first time, memory is released during a sync as well")
    func busy() async {
        #expect(
            await notes(busy: [true, false])
                == [
                    "rested", "gave back", "looked", "rested", "waited", "looked", "rested", "gave back", "waited",
                ])
    }
}
