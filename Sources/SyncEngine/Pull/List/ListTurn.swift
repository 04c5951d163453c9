internal import Synchronization

/// Says when a list that takes long must let others be read: it may be one that never ends.
final class ListTurn: Sendable {
    /// The list is read no further in this run. The next pull continues where it stopped.
    struct Ended: Error {
        /// Why the run ends; nil if the list was read for as long as it may be while another one waits.
        var failure: (any Error)?
    }

    static let length = Duration.seconds(900)

    private let stopwatch: Stopwatch
    private let length: Duration
    private let end: Mutex<Duration>
    private let others: @Sendable () async throws -> Void

    /// `others` reads the other lists, or throws `Ended`.
    init(
        _ clock: any Clock<Duration>, length: Duration = ListTurn.length,
        others: @escaping @Sendable () async throws -> Void
    ) {
        stopwatch = Stopwatch(clock)
        self.length = length
        end = Mutex(length)
        self.others = others
    }

    /// Lets the others be read if the turn is over. Hold no page meanwhile: others may need the memory for large answers.
    func giveWay() async throws {
        guard end.withLock({ stopwatch.duration >= $0 }) else { return }
        try await others()
        end.withLock { $0 = stopwatch.duration + length }
    }
}
