import JSONText
import LocalAPI

extension ChangeFollower {
    /// The pause between attempts to reach a daemon that is down.
    private static let pause = Duration.seconds(1)

    /// Calls `take` with the changes as they happen, without end. Waits for a daemon that goes down.
    ///
    /// Throws if there is no daemon at first, and when the log no longer holds the next change.
    mutating func follow(_ take: ([JSONText]) -> Void) async throws -> Never {
        var isDown = false
        while true {
            do throws(LocalAPIError) {
                let changes = try await next(wait: 60)
                isDown = false
                if !changes.isEmpty { take(changes) }
            } catch {
                guard hasBegun, error.isTemporary else { throw error }
                if !isDown {
                    StandardStream.error.write("repairminder-sync: \(CommandFailure(error).message); waiting for it\n")
                }
                isDown = true
                try await Task.sleep(for: Self.pause)
            }
        }
    }
}
