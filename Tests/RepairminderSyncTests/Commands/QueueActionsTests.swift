import ArgumentParser
import LocalAPI
import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Discarding changes")
struct QueueActionsTests {
    /// Discards `ids` of a queue that does not have the change 8, and returns what was deleted in which order.
    private func discard(
        _ ids: [String], cascade: Bool = false, isReachable: Bool = true
    ) async throws -> (targets: [String], failure: CommandFailure?) {
        let targets = Mutex<[String]>([])
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            guard isReachable else { throw .unreachable("the daemon cannot be reached") }
            targets.withLock { $0.append("\(request.method) \(request.target)") }
            return request.target.hasPrefix("/v1/pending/8")
                ? LocalAPIResponse(
                    status: 404, body: Array(#"{"title":"Not found","detail":"no change 8 is pending"}"#.utf8))
                : LocalAPIResponse(status: 204)
        }
        do {
            try await QueueActions.discard(ids, cascade: cascade, client, try ClientOptions.parse(["--json"]))
            return (targets.withLock { $0 }, nil)
        } catch {
            return (targets.withLock { $0 }, CommandFailure(any: error))
        }
    }

    @Test("of several changes the newest goes first, because it may depend on an older one")
    func order() async throws {
        let (targets, failure) = try await discard(["4", "10", "9"], cascade: true)
        #expect(targets == ["10", "9", "4"].map { "DELETE /v1/pending/\($0)?cascade=true" })
        #expect(failure == nil)
    }

    @Test("a change that cannot be discarded does not stop the others, and the status is its own")
    func others() async throws {
        let (targets, failure) = try await discard(["7", "8", "9"])
        #expect(targets.map { $0.suffix(1) } == ["9", "8", "7"])
        #expect(failure == CommandFailure(.notFound, "1 of 3 changes were not discarded"))
    }

    @Test("a single change that cannot be discarded is reported with the daemon's words")
    func single() async throws {
        #expect(try await discard(["8"]).failure?.message == "no change 8 is pending")
    }

    @Test("without a daemon nothing more is tried")
    func unreachable() async throws {
        #expect(try await discard(["7", "9"], isReachable: false).failure?.status == .unreachable)
    }
}
