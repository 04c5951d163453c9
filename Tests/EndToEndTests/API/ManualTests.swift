import Foundation
import TestSupport
import Testing

/// Runs the examples of some pages, with the built command. `UPDATE_DOCS=1` writes their answers into them.
@Suite("The manual", .serialized)
struct ManualTests {
    private static let isUpdating = ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1"

    @Test(
        "every example gives the answer that is shown", .timeLimit(.minutes(5)),
        arguments: ["docs/api.md", "docs/guides/agents.md", "docs/guides/troubleshooting.md"])
    func examples(page: String) async throws {
        let file = ProjectFiles.root.appending(path: page)
        let manual = try Manual(String(contentsOf: file, encoding: .utf8))
        #expect(manual.strays.isEmpty, "answers that no command gives; see \(page) at these lines")
        var answers: [String] = []
        try await Demo.run { demo in answers = try await self.answers(to: manual, demo) }
        try #require(answers.count == manual.examples.count, "bash ended early:\n\(answers.last ?? "")")
        let differing = zip(manual.examples, answers).filter { !Manual.fits($1, manual.shown(by: $0)) }
        if Self.isUpdating, !differing.isEmpty {
            // Replaces all answers, so that an id is the same wherever it is shown.
            try manual.text(answering: answers).write(to: file, atomically: true, encoding: .utf8)
        }
        for (example, answer) in differing where !Self.isUpdating || example.answer == nil {
            Issue.record(
                """
                \(page):\(example.line)
                \(example.commands)
                --- shown
                \(manual.shown(by: example))
                --- got
                \(answer)
                """)
        }
    }

    /// What each example prints, errors included, in one bash.
    private func answers(to manual: Manual, _ demo: Demo) async throws -> [String] {
        let end = "\u{1E}"
        let path = "export PATH='\(Program.products.path)':\"$PATH\"\n"
        let examples = manual.examples.map { "\($0.commands)\nprintf '\\n\(end)\\n'\n" }.joined()
            .replacing("localhost:7679", with: demo.api).replacing("localhost:7680", with: demo.upstream)
        let bash = try Program(URL(filePath: "/usr/bin/timeout"), ["120", "bash", "-c", path + examples])
        return await bash.finish().output.split(separator: end, omittingEmptySubsequences: false).dropLast().map {
            $0.replacing("\r\n", with: "\n").replacing(demo.api, with: "localhost:7679")
                .trimmingCharacters(in: .newlines)
        }
    }

    @Test("an answer is directly below its commands")
    func reading() {
        let manual = Manual("```sh\nls\n```\n```text\na\nb\n```\n\n```sh\ntrue\n```\n\n```json\n{}\n```\n")
        #expect(manual.examples.map(\.line) == [2, 10])
        #expect(manual.examples.map { manual.shown(by: $0) } == ["a\nb", ""])
        #expect(manual.strays == [14])
        #expect(manual.text(answering: ["c", ""]).hasPrefix("```sh\nls\n```\n```text\nc\n```\n"))
    }

    @Test(
        "only times, ids and tags match others",
        arguments: [
            (#"{"at":"2026-11-21T10:42:00.000Z"}"#, #"{"at":"2027-01-02T03:04:05.678Z"}"#, true),
            ("0b1e7a52-3f4d-4c7e-9a10-5d2f8c6b7e90", "7c9e6679-7425-40de-944b-e07fc1f90ae7", true),
            (#"ETag: "5f6ab7b1d95e6e34-43b7aa9f686e1fba""#, #"ETag: "b5825bebdae6ab38-0000000000000000""#, true),
            (#"ETag: "5f6ab7b1d95e6e34-43b7aa9f686e1fba""#, #"ETag: "b5825bebdae6ab38""#, false),
            (#"{"at":"2026-11-21T10:42:00.000Z"}"#, #"{"at":null}"#, false),
            ("ord_8e3718107da9bd33c5", "ord_37dc571e3240a9ecbc", false),
            (#"{"count":1}"#, #"{"count":2}"#, false),
            (#"{"found":"…"}"#, #"{"found":"lost"}"#, false),
        ])
    func fitting(_ answer: String, _ shown: String, _ fits: Bool) {
        #expect(Manual.fits(answer, shown) == fits)
    }
}
