import Foundation
import Glibc
import SystemCalls

/// The file with the local API's token, in the state directory.
struct TokenFile {
    let path: String

    /// In characters, as of other secrets. The daemon accepts no shorter token.
    static let shortest = 8
    /// More than any token needs.
    private static let largest = 4096

    /// Nil when there is no token. Throws `StateError` when the file is a link, does not belong to `owner`, or may be
    /// read by others: the token would be another user's choice, or known to them.
    func token(readableBy owner: uid_t) throws(StateError) -> String? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: return nil
            case ELOOP:
                throw StateError(
                    message: "\(path) is a link; replace it by a file, or delete it for a new token",
                    isOpenToOthers: true)
            default: throw StateError(message: "\(path) cannot be read (\(SystemError.last)); check its owner")
            }
        }
        defer { close(file) }
        guard let status = stat(of: file), status.isFile, status.st_uid == owner else {
            throw StateError(
                message: "\(path) is not a file of \(StateOwner.name(of: owner)); delete it, and restart the daemon "
                    + "for a new token",
                isOpenToOthers: true)
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StateError(
                message: "other users can read or change \(path); stop the daemon, then run chmod -R go= \(folder). If "
                    + "they may have read it, delete it instead, and restart the daemon for a new token",
                isOpenToOthers: true)
        }
        var bytes = [UInt8](repeating: 0, count: Self.largest)
        let count = read(file, &bytes, bytes.count)
        guard let text = String(validating: bytes.prefix(max(count, 0)), as: UTF8.self) else {
            throw StateError(
                message: "\(path) is not UTF-8 text, so no caller can send it; write another token, or delete the file "
                    + "and restart the daemon for a new one")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return token.isEmpty ? nil : token
    }

    /// Messages propose no command for the file itself: root could follow a link that takes its place.
    private var folder: String { (path as NSString).deletingLastPathComponent + "/" }

    /// Replaces the file in one step; returns once it would survive a power loss.
    func write(_ token: String) throws(StateError) {
        do throws(SystemError) {
            try Files.replace(path, with: Array("\(token)\n".utf8))
        } catch {
            throw StateError(message: "cannot write \(path) (\(error)); check state_dir")
        }
    }
}
