import Foundation
import Glibc

/// A temporary file, readable only by this user, that a person edits.
struct EditedFile {
    let path: String
    /// The shell's words of the editor's command.
    private let editor: String

    /// Uses `$VISUAL`, else `$EDITOR`, else `vi`.
    init(environment: Environment) throws(CommandFailure) {
        let named = ["VISUAL", "EDITOR"].compactMap { environment.variables[$0] }.first { !$0.isEmpty }
        editor = named ?? "vi"
        let folder = environment.temporaryFolder
        var template = Array("\(folder)/repairminder-sync-XXXXXX.yaml".utf8CString)
        let suffix = Int32(".yaml".utf8.count)
        // mkstemps creates it with mode 0600.
        let descriptor = mkstemps(&template, suffix)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .temporaryFailure, "no temporary file can be made in \(folder): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() { unlink(path) }

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
    func edited() throws(CommandFailure) -> String {
        let status = ChildProcess.run(["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path])
        guard status == 0 else {
            throw CommandFailure(
                .usage, "the editor \(editor) ended with status \(status), so nothing was sent; set VISUAL or EDITOR")
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw lost }
        return text
    }

    private var lost: CommandFailure {
        CommandFailure(.temporaryFailure, "\(path) cannot be opened, so nothing was sent; check that it is still there")
    }
}
