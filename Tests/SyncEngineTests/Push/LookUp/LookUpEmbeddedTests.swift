import EntitySchema
import JSONText
import Testing

@testable import SyncEngine

@Suite("Looking up a lost creation in a list that its parent shows")
struct LookUpEmbeddedTests {
    /// The finding for a creation with the notes "new", sent this many seconds ago, when the list shows these notes.
    private func finding(_ shown: [String], seconds: Int) async throws -> CreateReconciler.Finding {
        let test = try TestPull(
            create: "call: POST /orders, look_up: { match: [notes], path: /client, embedded: orders }")
        let list = JSONText.array(
            shown.enumerated().map { .object(["id": .string("o\($0.offset)"), "notes": .string($0.element)]) })
        try test.upstream.serve([list.text])
        return try await test.lookUp(try await test.lostCreation(.object(["notes": "new"]), sent: .seconds(seconds)))
    }

    private let ten = (1...10).map { "old \($0)" }

    @Test("one of as many records as a page usually has is looked at again until the time to settle is over")
    func early() async throws {
        #expect(try await finding(ten, seconds: 10).delay != nil)
    }

    @Test("it is then left to a person, because the list may be cut")
    func late() async throws {
        #expect(try await finding(ten, seconds: 61).doubt?.contains("ends at exactly 10 records") == true)
    }

    @Test("the record counts as soon as the list shows it", arguments: [10, 61])
    func shown(_ seconds: Int) async throws {
        #expect(try await finding(ten + ["new"], seconds: seconds).key == "o10")
    }
}
