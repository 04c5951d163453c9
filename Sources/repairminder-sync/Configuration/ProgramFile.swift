import Foundation
import Glibc

/// A program that the configuration names, which runs with the daemon's rights.
struct ProgramFile {
    let path: String
    /// Who may put files in a folder with the sticky bit on the path, besides the folder's owner.
    var trusted: Set<uid_t> = [0, geteuid()]

    /// The kernel follows no more links in one path.
    private static let mostLinks = 40

    /// Why the daemon must not run it: every user of the machine could change it, or put another in its place. Nil when
    /// nothing shows that. A program that is missing is reported when it is to run.
    var refusal: String? { steps.lazy.compactMap(refusal).first }

    private func refusal(_ step: Step) -> String? {
        if !isOwnersOnly(step) {
            return
                "other users can put another program in place of \(step.path); move \(path) to a folder that only root or the"
                + " daemon's user can change"
        }
        // The mode of a link says nothing.
        guard let mode = step.status?.st_mode, mode & S_IFMT != S_IFLNK, mode & S_IWOTH != 0 else { return nil }
        guard mode & S_IFMT == S_IFDIR else {
            return "other users can change the program \(step.path); run chmod o-w \(step.path)"
        }
        if mode & S_ISVTX != 0 { return nil }
        return "other users can change files in \(step.path), and so the program \(path); run chmod o-w \(step.path)"
    }

    /// In a folder with the sticky bit, such as /tmp, every user can make a file, and only its owner replaces it.
    private func isOwnersOnly(_ step: Step) -> Bool {
        guard let folder = step.folder, folder.st_mode & S_IWOTH != 0, folder.st_mode & S_ISVTX != 0 else {
            return true
        }
        guard let owner = step.status?.st_uid else { return false }
        return trusted.contains(owner) || owner == folder.st_uid
    }

    private struct Step {
        var path: String
        /// Nil when it cannot be seen.
        var status: stat?
        /// Of the folder that it stands in.
        var folder: stat?
    }

    /// The folders on the way to the file, the links among them with the folders through which they lead, and the file itself, as
    /// far as they can be seen.
    private var steps: [Step] {
        var folder = "/"
        var rest = Self.names(path)[...]
        var links = 0
        var steps = [Step(path: folder, status: Self.status(of: folder))]
        while let name = rest.popFirst() {
            if name == ".." { folder = (folder as NSString).deletingLastPathComponent }
            if name == "." || name == ".." { continue }
            let next = (folder as NSString).appendingPathComponent(name)
            steps.append(Step(path: next, status: Self.status(of: next), folder: Self.status(of: folder)))
            guard let mode = steps.last?.status?.st_mode else { break }
            guard mode & S_IFMT == S_IFLNK else {
                folder = next
                continue
            }
            links += 1
            guard links <= Self.mostLinks, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: next)
            else { break }
            if target.hasPrefix("/") { folder = "/" }
            rest = (Self.names(target) + rest)[...]
        }
        return steps
    }

    private static func names(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }
}
