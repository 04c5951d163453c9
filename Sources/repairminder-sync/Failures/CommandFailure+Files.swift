import Foundation
import SQLiteStore

extension CommandFailure {
    /// What is wrong with the changes of a file, on one line: its author must not write messages in this program's name.
    static func invalid(_ problems: [FieldProblem], in file: String? = nil) -> CommandFailure {
        let reasons = problems.map { "\($0.field): \($0.message)" }.joined(separator: "; ")
        return CommandFailure(.badData, TerminalText.line(file.map { "\($0): \(reasons)" } ?? reasons))
    }

    /// Why a file that the user names could not be written. Only a full disk may have space later.
    static func unwritable(_ file: String, _ error: any Error) -> CommandFailure {
        switch (error as? CocoaError)?.code {
        case .fileWriteOutOfSpace:
            CommandFailure(
                .temporaryFailure, "cannot write \(file): the disk is full; free some space, then try again")
        case .fileNoSuchFile: CommandFailure(.usage, "cannot write \(file): its folder does not exist; make it first")
        default:
            CommandFailure(
                .usage,
                "cannot write \(file): check the folder and its permissions, and that it is not another user's link")
        }
    }
}
