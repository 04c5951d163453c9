import EntitySchema
import TestSupport

@testable import SchemaDraft

/// One document's line of the table in docs/benchmarks/drafts.md.
struct DraftScore {
    var document: String
    /// GETs whose answer has a list of objects.
    var lists = 0
    var noKey = 0
    var noList = 0
    var sameRecords = 0
    var offered = 0
    var working = 0
    var problems: [String] = []

    /// Lists of records that can be told apart, each counted once.
    var collections: Int { lists - noKey - noList - sameRecords }

    static func of(_ name: String) async throws -> DraftScore {
        var score = DraftScore(document: name)
        guard let draft = try? Documents.draft(name) else { return score }
        let out = draft.leftOut.filter { ![.unsaid, .chosen, .posted].contains($0.why) }
        score.lists = draft.paths.count + out.count
        score.noKey = out.count { $0.why == .noKey }
        score.noList = out.count { $0.why == .noList }
        score.sameRecords = out.count { $0.why == .sameRecords }
        score.offered = draft.paths.count
        let problems = try await DraftTrial(draft.schema).problems()
        score.working = score.offered - problems.count
        score.problems =
            problems.map { "\($0): \($1)" }.sorted()
            + out.filter { $0.why == .refused }.map { "\($0.path): \($0.reason)" }
        return score
    }

    static func sum(_ scores: [DraftScore]) -> DraftScore {
        scores.reduce(into: DraftScore(document: "all")) { sum, score in
            sum.lists += score.lists
            sum.noKey += score.noKey
            sum.noList += score.noList
            sum.sameRecords += score.sameRecords
            sum.offered += score.offered
            sum.working += score.working
        }
    }

    private var row: String {
        let share = collections == 0 ? "" : "\((working * 1000 / collections + 5) / 10) %"
        return
            "| \(document) | \(lists) | \(noKey) | \(noList) | \(sameRecords) | \(collections) | \(offered) | \(working) | \(share) |"
    }

    static func page(_ scores: [DraftScore]) -> String {
        let problems = scores.flatMap { score in score.problems.map { "- \(score.document): \($0)" } }
        let failing = problems.isEmpty ? "" : "\n## What does not work\n\n\(problems.joined(separator: "\n"))\n"
        return """
            # Drafted schemas

            `TEST_ALL=1 UPDATE_DOCS=1 swift test --filter DocumentScoreTests` writes this page. It drafts a schema from each of [these
            documents](../../Tests/SchemaDraftTests/Documents/README.md), as `repairminder-sync init --from` does, and serves it by the
            reference upstream.

            - **lists**: GETs whose answer is a list of objects, or an object with one, and whose path does not end with a parameter,
              unless each record has a path below it
            - **no key**: nothing identifies their records, so they are no collections
            - **no list**: one record that contains lists, or an answer with several tables
            - **same records**: some of the records of another list
            - **collections**: the others
            - **offered**: collections in the draft; `check-config` accepts all of it
            - **working**: all records arrive, an edit there arrives here, and an edit, a new record and a deletion here arrive there, as
              far as the draft has these calls

            | document | lists | no key | no list | same records | collections | offered | working | share |
            | --- | --- | --- | --- | --- | --- | --- | --- | --- |
            \((scores + [sum(scores)]).map(\.row).joined(separator: "\n"))
            \(failing)
            """
    }
}
