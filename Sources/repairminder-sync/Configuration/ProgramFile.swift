import Foundation
import Glibc

/// A program that the configuration names, which runs with the daemon's rights.
struct ProgramFile {
    let path: String

    /// The kernel follows no more links in one path.
    private static let mostLinks = 40

    /// Why the daemon must not run it: every user of the machine could change it, or put another in its place. Nil when
    /// nothing shows that. A program that is missing is reported when it is to run.
    var refusal: String? {
        for step in steps {
            let isFolder = step.mode & S_IFMT == S_IFDIR
            // In a folder with the sticky bit, such as /tmp, only its owner replaces a file.
            guard step.mode & S_IWOTH != 0, !isFolder || step.mode & S_ISVTX == 0 else { continue }
            return isFolder
                ? "other users can change files in \(step.path), and so the program \(path); run chmod o-w \(step.path)"
                : "other users can change the program \(step.path); run chmod o-w \(step.path)"
        }
        return nil
    }

    private struct Step {
        var path: String
        var mode: mode_t
    }

    /// The folders on the way to the file, also those through which its links lead, and the file itself, as far as they
    /// can be seen.
    private var steps: [Step] {
        var steps: [Step] = []
        var folder = "/"
        var rest = Self.names(path)[...]
        var links = 0
        if let root = Self.mode(of: "/") { steps.append(Step(path: "/", mode: root)) }
        while let name = rest.popFirst() {
            if name == ".." { folder = (folder as NSString).deletingLastPathComponent }
            if name == "." || name == ".." { continue }
            let next = (folder as NSString).appendingPathComponent(name)
            guard let mode = Self.mode(of: next) else { break }
            guard mode & S_IFMT == S_IFLNK else {
                steps.append(Step(path: next, mode: mode))
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

    /// Nil when it cannot be seen.
    private static func mode(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : nil
    }
}
