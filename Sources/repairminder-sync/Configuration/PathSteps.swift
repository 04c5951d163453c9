import Foundation
import Glibc

/// What a path leads through: the folders on the way, the links among them with the folders through which they lead, and the
/// file itself, as far as they can be seen.
struct PathSteps {
    struct Step {
        var path: String
        /// Nil when it cannot be seen.
        var status: stat?
        /// Of the folder that it stands in.
        var folder: stat?
    }

    let steps: [Step]

    /// The kernel follows no more links in one path.
    private static let mostLinks = 40

    /// `path` begins with a slash.
    init(to path: String) {
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
        self.steps = steps
    }

    private static func names(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }
}
