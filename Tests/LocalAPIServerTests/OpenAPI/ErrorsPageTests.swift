import Foundation
import JSONText
import SQLiteStore
import TestSupport
import Testing

@testable import LocalAPIServer
@testable import SocketServer

@Suite("The page of error codes")
struct ErrorsPageTests {
    private static let path = "docs/errors.md"
    private static let marks = ("<!-- codes:begin -->", "<!-- codes:end -->")

    /// The generated part of the page.
    private var tables: String {
        let codes = ProblemCode.allCases.map { code in
            let (when, remedy) = code.explanation
            return "| <a id=\"\(code.rawValue)\"></a>`\(code.rawValue)` | \(code.status) | \(when) | \(remedy) |"
        }
        let fields = FieldProblem.Code.allCases.map {
            "| <a id=\"\($0.rawValue)\"></a>`\($0.rawValue)` | \($0.meaning) |"
        }
        return
            (["| `code` | status | when | what to do |", "| --- | --- | --- | --- |"] + codes
            + ["", "## Of a field", "", "A problem of the code `invalid_fields` has one of these for each field:", ""]
            + ["| `code` of an error | what is wrong |", "| --- | --- |"] + fields).joined(separator: "\n")
    }

    /// To write the page after a change of the codes: `WRITE_PAGES=yes swift test --filter ErrorsPageTests`.
    @Test("docs/errors.md has exactly the codes of the program")
    func upToDate() throws {
        let page = try ProjectFiles.text(Self.path)
        let (begin, end) = Self.marks
        let start = try #require(page.range(of: begin)).upperBound
        let finish = try #require(page.range(of: end)).lowerBound
        let expected = page[..<start] + "\n" + tables + "\n" + page[finish...]
        if ProcessInfo.processInfo.environment["WRITE_PAGES"] != nil {
            try Data(expected.utf8).write(to: ProjectFiles.root.appending(path: Self.path))
        } else {
            #expect(page == expected)
        }
    }

    @Test("no code of a field is one of a whole problem, and each problem has a title and a page")
    func distinct() {
        let fields = Set(FieldProblem.Code.allCases.map(\.rawValue))
        #expect(fields.isDisjoint(with: ProblemCode.allCases.map(\.rawValue)))
        for code in ProblemCode.allCases {
            #expect(!code.title.isEmpty && code.type.hasSuffix("/errors.md#\(code.rawValue)"), "\(code)")
        }
    }

    @Test("what the HTTP server refuses by itself has a code of the page, of the same status")
    func refusals() {
        let refusals: [Refusal] = [
            .badRequest("x"), .tooLarge("x"), .timedOut, .targetTooLong, .headTooLarge, .unknownExpectation,
            .unknownCoding, .otherVersion, .busy, .bodiesFull, .brokenResponse,
        ]
        for refusal in refusals {
            #expect(ProblemCode(rawValue: refusal.code)?.status == refusal.status, "\(refusal)")
        }
    }
}
