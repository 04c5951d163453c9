import Foundation
import TestSupport
import Testing

/// Commands of the documentation that people run as root, on files that the daemon's user controls.
@Suite("Documented commands") struct DocumentedCommandTests {
    /// The lines of all pages, each with the name of its page.
    private func lines() throws -> [(page: String, text: Substring)] {
        let folder = ProjectFiles.root.appending(path: "docs").path
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).map { "docs/\($0)" }
        let pages = ["README.md", "SECURITY.md"] + names.filter { $0.hasSuffix(".md") }.sorted()
        return try pages.flatMap { page in
            try ProjectFiles.text(page).split(separator: "\n").map { (page: page, text: $0) }
        }
    }

    @Test("sqlite3 is always run with -safe, because the file has SQL of its own")
    func sqlite() throws {
        let calls = try lines().filter { $0.text.contains(/sqlite3 +(-|\S*\.db|<)/) }
        #expect(calls.count >= 5)
        for call in calls { #expect(call.text.contains("sqlite3 -safe -readonly"), "\(call.page): \(call.text)") }
    }
}
