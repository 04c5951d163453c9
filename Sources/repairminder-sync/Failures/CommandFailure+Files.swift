import Foundation

extension CommandFailure {
    /// Why a file that the user names could not be written. Only a full disk may have space later.
    static func unwritable(_ file: String, _ error: any Error) -> CommandFailure {
        if (error as? CocoaError)?.code == .fileWriteOutOfSpace {
            return CommandFailure(
                .temporaryFailure, "cannot write \(file): the disk is full; free some space, then try again")
        }
        return CommandFailure(
            .usage, "cannot write \(file): check the folder and its permissions, and that it is not another user's link"
        )
    }
}
