import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("The documentation that messages name")
struct ManualTests {
    @Test("a page is named by its installed path where it is installed, else by its path in the sources")
    func located() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("guides"), withIntermediateDirectories: true)
        try folder.write("", to: "guides/operating.md")
        let text = "see Downgrade in docs/guides/operating.md, and docs/config.md"
        #expect(
            Manual.located(text, in: folder.path)
                == "see Downgrade in \(folder.path("guides/operating.md")), and docs/config.md")
        #expect(Manual.located(text, in: nil) == text)
    }
}
