import JSONText
import Testing

@testable import SyncEngine

@Suite("Looking up a lost creation by a value that its record shows in a list")
struct LookUpAmongTests {
    /// The finding for a creation with these members, sent this many seconds ago, when the list shows these records.
    private func finding(
        _ sent: String, _ listed: [String], seconds: Int = 120
    ) async throws -> CreateReconciler.Finding {
        let create = "call: POST /orders, look_up: { match: [notes], among: { remark: log.*.text } }"
        let test = try TestPull(create: create) {
            let field = "notes: { type: string }"
            return $0.replacing(field, with: field + "\n      remark: { type: string, write_only: true }")
        }
        try test.upstream.serveSingles(of: "[]")
        try test.upstream.serve(["[\(listed.joined(separator: ","))]"])
        return try await test.lookUp(try await test.lostCreation(JSONText(parsing: sent), sent: .seconds(seconds)))
    }

    private let sent = #"{"notes":"same","remark":"mine"}"#
    private let own = #"{"id":"b","notes":"same","log":[{"text":"of the server"},{"text":"mine"}]}"#
    private let others = #"{"id":"a","notes":"same","log":[{"text":"theirs"}]}"#

    @Test("a record that has it there is the created one, before and after another with the same values")
    func own() async throws {
        for list in [[own], [others, own], [own, others]] {
            #expect(try await finding(sent, list).key == "b")
        }
        let spaced = sent.replacing("mine", with: " mine ")
        #expect(try await finding(spaced, [own]).key == "b", "the server cuts off the spaces")
    }

    @Test("a record that has only other values there is left to a person", arguments: [#"{"text":"theirs"}"#, ""])
    func others(_ elements: String) async throws {
        let listed = #"{"id":"a","notes":"same","log":[\#(elements)]}"#
        #expect(try await finding(sent, [listed]).doubt?.contains("may be this one: a") == true)
    }

    @Test("until the time to settle is over, the server may still add it")
    func early() async throws {
        #expect(try await finding(sent, [others], seconds: 10).delay != nil)
    }

    @Test("a record that does not show the list, and a creation that did not send the value, are not told apart by it")
    func unsaid() async throws {
        for listed in [#"{"id":"a","notes":"same"}"#, #"{"id":"a","notes":"same","log":null}"#] {
            #expect(try await finding(sent, [listed]).key == "a")
        }
        for bare in [#"{"notes":"same"}"#, #"{"notes":"same","remark":""}"#] {
            #expect(try await finding(bare, [others]).key == "a")
        }
    }
}
