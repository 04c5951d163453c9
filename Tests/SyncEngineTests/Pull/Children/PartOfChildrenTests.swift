import EntitySchema
import JSONText
import SchemaDrift
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

@Suite("Records that embed only a part of their children")
struct PartOfChildrenTests {
    private static let embedded = "detail: { into: messages, embedded: [thread.messages, messages] }"

    private func messages(_ ids: String...) -> String { ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",") }

    private func drift(_ test: TestPull) throws -> [String] {
        try test.store.drift().filter { $0.entity == "messages" && $0.kind == .list }.map(\.found)
    }

    @Test(
        "a child that only the rest of them may have is kept, and that is said",
        arguments: [
            #""thread":{"startAt":0,"maxResults":2,"total":3,"messages":["#, #""thread":{"totalCount":3,"messages":["#,
            #""thread":{"pageInfo":{"hasNextPage":true},"messages":["#, #""thread":{"has_more":true,"messages":["#,
            #""thread":{"messages@odata.nextLink":"http://localhost/next","messages":["#,
        ])
    func part(_ holder: String) async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([#"[{"id":"a","thread":{"messages":[\#(messages("m", "n"))]}}]"#])
        try await test.pull()
        let later = #"[{"id":"a",\#(holder)\#(messages("n", "o"))]}}]"#
        try test.upstream.serve([later], singles: true)
        for _ in 1...2 { #expect(try await test.pull(full: true).deletedMessages == 0) }
        #expect(try test.keys("messages") == ["m", "n", "o"])
        #expect(try drift(test).first?.hasPrefix("orders/a says that it has more than the 2 that it shows") == true)
        let whole = #"[{"id":"a","thread":{"messages":[\#(messages("n", "o"))]}}]"#
        try test.upstream.serve([whole], singles: true)
        #expect(try await test.pull(full: true).deletedMessages == 1)
        #expect(try drift(test).isEmpty)
    }

    @Test(
        "an amount beside the children, and a total that is theirs, say nothing of the kind",
        arguments: [#""total":99"#, #""total":1,"limit":50"#, #""totalCount":1"#])
    func whole(_ beside: String) async throws {
        let test = try TestPull(Self.embedded, changing: TestPull.withoutMessages)
        try test.upstream.serve([#"[{"id":"a","thread":{"messages":[\#(messages("m", "n"))]}}]"#])
        try await test.pull()
        try test.upstream.serve([#"[{"id":"a","thread":{\#(beside),"messages":[\#(messages("n"))]}}]"#], singles: true)
        #expect(try await test.pull().deletedMessages == 1)
        #expect(try drift(test).isEmpty)
    }
}
