import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("The file of a record that a person edits")
struct EditedFileTests {
    @Test(
        "without a terminal, vi is not started",
        .enabled(if: isatty(STDIN_FILENO) == 0, "needs a test run without a terminal"))
    func noTerminal() throws {
        let failure = #expect(throws: CommandFailure.self) {
            try EditedFile(environment: try TemporaryFolder().environment())
        }
        #expect(failure?.status == .usage && failure?.message.contains("set EDITOR") == true)
    }

    @Test(
        "text that the editor did not save in UTF-8 is refused by that reason, and a file that it removed by another",
        arguments: [
            (
                #"printf 'notes: f\374r Ada' >"#, CommandStatus.badData,
                "saved text that is not UTF-8, so nothing was sent"
            ),
            ("rm -f", .temporaryFailure, "cannot be opened, so nothing was sent"),
        ])
    func unreadable(editor: String, status: CommandStatus, words: String) async throws {
        let folder = try TemporaryFolder()
        let file = try EditedFile(environment: folder.environment(["EDITOR": editor, "TMPDIR": folder.path]))
        defer { file.remove() }
        try file.write("notes: text\n")
        let failure = await #expect(throws: CommandFailure.self) { try await file.edited() }
        #expect(failure?.status == status && failure?.message.contains(words) == true)
    }
}
