import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import SchemaDraft

@Suite("Drafts of real documents")
struct DocumentScoreTests {
    /// One document's line of the table in docs/benchmarks.
    struct Score {
        var document: String
        var lists = 0
        var noKey = 0
        var noList = 0
        var sameRecords = 0
        var offered = 0
        var working = 0
        var problems: [String] = []

        /// Lists of records, each counted once.
        var collections: Int { lists - noKey - noList - sameRecords }
    }

    static func score(_ name: String) async throws -> Score {
        let draft = try Documents.draft(name)
        var score = Score(document: name)
        let out = draft.leftOut
        score.lists = draft.paths.count + out.count
        score.noKey = out.count { $0.why == .noKey }
        score.noList = out.count { $0.why == .noList }
        score.sameRecords = out.count { $0.why == .sameRecords }
        score.offered = draft.paths.count
        let problems = try await DraftTrial(draft.schema).problems()
        score.working = score.offered - problems.count
        score.problems = problems.map { "\($0): \($1)" }.sorted() + out.filter { $0.why == .refused }.map { "\($0.path): \($0.reason)" }
        return score
    }

    @Test("print the scores", .enabled(if: TestRun.environment["SCORE"] != nil))
    func scores() async throws {
        var sum = Score(document: "all")
        for name in Documents.names where TestRun.environment["SCORE"] == "1" || name.hasPrefix(TestRun.environment["SCORE"] ?? "") {
            do {
                let score = try await Self.score(name)
                print(name, score.lists, "nokey", score.noKey, "nolist", score.noList, "same", score.sameRecords, "offered", score.offered, "working", score.working)
                for problem in score.problems { print("    ", problem) }
                sum.lists += score.lists
                sum.noKey += score.noKey
                sum.noList += score.noList
                sum.sameRecords += score.sameRecords
                sum.offered += score.offered
                sum.working += score.working
            } catch {
                print(name, "FAILED", error)
            }
            if let folder = TestRun.environment["DRAFTS"], let draft = try? Documents.draft(name) {
                try draft.yaml.write(toFile: "\(folder)/\(name).draft.yaml", atomically: true, encoding: .utf8)
            }
        }
        print("sum", sum.lists, "collections", sum.collections, "offered", sum.offered, "working", sum.working)
    }
}
