import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Giving memory back")
struct MemoryKeeperTests {
    /// What a keeper did, in order; a clock that is never waited for.
    private final class Notes: Clock, Sendable {
        let all = Mutex<[String]>([])

        var now: ContinuousClock.Instant { .now }
        var minimumResolution: Duration { .zero }

        func add(_ note: String) { all.withLock { $0.append(note) } }
        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws { add("rested") }
    }

    /// Runs a keeper until it has waited for as many news as there are answers to whether anything is going on.
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
            }, isBusy: { answers.withLock { $0.removeFirst() } }, clock: notes, giveBack: { notes.add("gave back") })
        await Task { _ = await #expect(throws: CancellationError.self) { try await keeper.run() } }.value
        return notes.all.withLock { $0 }
    }

    @Test("it is given back a while after the start, and then only once something has happened since")
    func quiet() async {
        #expect(
            await notes(busy: [false, false])
                == ["looked", "rested", "gave back", "waited", "looked", "rested", "gave back", "waited"])
    }

    @Test("nothing is taken from a sync that is under way")
    func busy() async {
        #expect(
            await notes(busy: [true, false])
                == ["looked", "rested", "waited", "looked", "rested", "gave back", "waited"])
    }
}
