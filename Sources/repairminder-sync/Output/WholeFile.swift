import Foundation
import Glibc

/// A file that a command writes as a whole, at a path that a person names.
enum WholeFile {
    /// Replaces a regular file in one step, follows a link, and writes into anything else: as root it would otherwise put a
    /// file in the place of /dev/null.
    ///
    /// Throws for a link that neither this user nor root has made: in a folder such as /tmp, another user could have
    /// any file replaced. The kernel does not follow such links (`fs.protected_symlinks`), but it does say where they
    /// lead.
    static func write(_ text: String, to path: String) throws {
        guard isOwnLink(path) != false else { throw CocoaError(.fileWriteNoPermission) }
        guard let status = Self.status(of: path), status.st_mode & S_IFMT != S_IFREG else {
            let target = isOwnLink(path) == true ? real(path) : path
            return try Data(text.utf8).write(to: URL(filePath: target), options: [.atomic])
        }
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        defer { close(file) }
        guard StandardStream(descriptor: file).writeAll(Array(text.utf8)) == nil else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// Whether this user or root has made the link; nil if it is no link.
    private static func isOwnLink(_ path: String) -> Bool? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        return [0, geteuid()].contains(status.st_uid)
    }

    /// Of what a link leads to; nil if nothing is there.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Where a link leads.
    private static func real(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
