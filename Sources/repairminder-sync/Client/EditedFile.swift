import Foundation
import Glibc
import Synchronization
import SystemCalls
import UnixSignals

/// A temporary file that a person edits, in a directory of its own that only this user can enter: other users see neither
/// its name nor what the editor leaves beside it, such as a former version.
final class EditedFile: Sendable {
    let path: String
    private let directory: String
    /// The shell's words of the editor's command.
    private let editor: String
    private let isInEditor = Mutex(false)

    /// Those that end this process, and would leave the file behind.
    static let endings: [UnixSignal] = [.sighup, .sigint, .sigquit, .sigterm]

    /// Uses `$VISUAL`, else `$EDITOR`, else `vi`, which needs a terminal.
    init(environment: Environment) throws {
        let named = ["VISUAL", "EDITOR"].compactMap { environment.variables[$0] }.first { !$0.isEmpty }
        guard let editor = named ?? (isatty(STDIN_FILENO) == 1 ? "vi" : nil) else {
            throw CommandFailure(
                .usage,
                "there is no terminal for vi; set EDITOR to a program that needs none, or use set instead")
        }
        self.editor = editor
        directory = try environment.makeTemporaryFolder("repairminder-sync-")
        path = "\(directory)/record.yaml"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = SystemError.last
            rmdir(directory)
            throw CommandFailure(.temporaryFailure, "\(path) cannot be created: \(reason)")
        }
        close(descriptor)
    }

    /// Removes the directory with all that is in it.
    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// At a signal removes the directory and ends this process, with the status that a shell gives it. While the editor runs,
    /// what the keyboard sends is for the editor alone, as in system(3).
    func remove(at signals: UnixSignalsSequence) async {
        for await signal in signals {
            let isForEditor = [UnixSignal.sigint, .sigquit].contains(signal) && isInEditor.withLock { $0 }
            if isForEditor { continue }
            remove()
            _exit(128 + signal.rawValue)
        }
    }

    func write(_ text: String) throws(CommandFailure) {
        // In place: a new file would not have the mode.
        guard let file = FileHandle(forWritingAtPath: path) else { throw lost }
        do {
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
        } catch {
            throw CommandFailure(.temporaryFailure, "\(path) cannot be written; check the free disk space")
        }
    }

    /// Runs the editor, and returns the text that it leaves.
    func edited() async throws(CommandFailure) -> String {
        isInEditor.withLock { $0 = true }
        let status = await ChildProcess.run(["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path])
        isInEditor.withLock { $0 = false }
        guard status == 0 else {
            throw CommandFailure(
                .usage, "the editor \(editor) ended with status \(status), so nothing was sent; set VISUAL or EDITOR")
        }
        guard let bytes = FileManager.default.contents(atPath: path) else { throw lost }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(
                .badData, "the editor \(editor) saved text that is not UTF-8, so nothing was sent; have it save UTF-8")
        }
        return text
    }

    private var lost: CommandFailure {
        CommandFailure(.temporaryFailure, "\(path) cannot be opened, so nothing was sent; check that it is still there")
    }
}
