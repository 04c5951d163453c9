import LocalAPI
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("The first pull of the demo") struct DemoPullTests {
    private let clock = ManualClock()

    /// Answers each sync with the next of these statuses and codes, and then with success.
    private func client(_ problems: [(Int, String)], state: String) -> LocalAPIClient {
        let calls = Counter()
        return LocalAPIClient { (request) throws(LocalAPIError) in
            guard request.method == "POST" else {
                return LocalAPIResponse(status: 200, body: Array(#"{"state":"\#(state)"}"#.utf8))
            }
            let call = calls.next()
            guard call <= problems.count else { return LocalAPIResponse(status: 200, body: Array("{}".utf8)) }
            let (status, code) = problems[call - 1]
            throw .problem(LocalAPIProblem(status: status, title: "no", code: code))
        }
    }

    private func pull(_ client: LocalAPIClient) -> Task<[String], any Error> {
        let pull = DemoPull(client: client, api: "localhost:1", clock: clock)
        return Task {
            var notes: [String] = []
            try await pull.run { notes.append($0) }
            return notes
        }
    }

    @Test("while syncing is paused, it waits and says so once")
    func paused() async throws {
        let task = pull(client([(409, "paused"), (503, "unavailable"), (409, "paused")], state: "paused"))
        for _ in 1...3 { await clock.passSleep(of: .seconds(1)) }
        #expect(
            try await task.value == ["Syncing is paused. To go on: repairminder-sync resume --address localhost:1\n"])
    }

    @Test("any other failure ends it")
    func failure() async throws {
        let task = pull(client([(503, "unavailable")], state: "idle"))
        await #expect(throws: LocalAPIError.self) { try await task.value }
    }
}
