import Foundation
import Glibc
import SystemCalls

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
    /// Whether everything on the way can be seen, so that the last step is what the path names, existing or not, and no link.
    let isComplete: Bool

    /// The kernel follows no more links in one path.
    private static let mostLinks = 40

    /// `path` begins with a slash.
    init(to path: String) {
        var folder: [String] = []
        var rest = Self.names(path)[...]
        var links = 0
        var isBroken = false
        var steps = [Step(path: "/", status: stat(ofLink: "/"))]
        while let name = rest.popFirst() {
            if name == ".." { folder = folder.dropLast() }
            if name == "." || name == ".." { continue }
            let next = Self.path(folder + [name])
            steps.append(Step(path: next, status: stat(ofLink: next), folder: stat(ofLink: Self.path(folder))))
            guard let status = steps.last?.status else { break }
            guard status.isLink else {
                folder.append(name)
                continue
            }
            links += 1
            guard links <= Self.mostLinks, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: next)
            else {
                isBroken = true
                break
            }
            if target.utf8.first == Self.slash { folder = [] }
            rest = (Self.names(target) + rest)[...]
        }
        self.steps = steps
        isComplete = rest.isEmpty && !isBroken
    }

    private static let slash = UInt8(ascii: "/")

    /// By bytes, as the kernel reads it: a combining mark at the beginning of a name would hide the slash before it.
    private static func names(_ path: String) -> [String] {
        path.utf8.split(separator: slash).map { String(Substring($0)) }
    }

    private static func path(_ names: [String]) -> String { "/" + names.joined(separator: "/") }
}
