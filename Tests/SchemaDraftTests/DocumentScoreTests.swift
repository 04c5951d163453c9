import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import SchemaDraft

@Suite("Drafts of real documents")
struct DocumentScoreTests {
    /// Real documents without a single list that says what its records have.
    private static let untyped: Set = ["paystack.yaml"]

    @Test("Every document gives a schema that the daemon accepts", arguments: Documents.names)
    func accepted(_ name: String) throws {
        guard !Self.untyped.contains(name) else {
            #expect(throws: SchemaDraftError.self) { try Documents.draft(name) }
            return
        }
        let draft = try Documents.draft(name)
        let settings = Dictionary(draft.settings.map { ($0, "1") }) { first, _ in first }
        #expect(throws: Never.self) { try EntitySchema(yaml: draft.yaml, file: name, settings: settings) }
        #expect(!draft.leftOut.contains { $0.why == .refused })
    }

    @Test("At least 90 % of the lists of real documents sync both ways as drafted")
    func share() async throws {
        var deck = Deck(Documents.names.filter { !Self.untyped.contains($0) })
        let names = TestRun.isFull ? Documents.names : deck.draw(4).sorted()
        var scores: [DraftScore] = []
        for name in names { scores.append(try await DraftScore.of(name)) }
        let sum = DraftScore.sum(scores)
        let problems = scores.flatMap { score in score.problems.map { "\(score.document): \($0)" } }
        #expect(sum.working * 10 >= sum.collections * 9, "\(problems.joined(separator: "\n")), \(TestRun.note())")
        guard TestRun.isFull else { return }
        let file = ProjectFiles.root.appending(path: "docs/benchmarks/drafts.md")
        let page = DraftScore.page(scores)
        if TestRun.environment["UPDATE_DOCS"] != nil { try page.write(to: file, atomically: true, encoding: .utf8) }
        #expect(try String(contentsOf: file, encoding: .utf8) == page, "UPDATE_DOCS=1 writes the page")
    }
}
