import Foundation
import Glibc
import SystemCalls

/// A file that a command writes or reads as a whole, at a path that a person names.
///
/// The path can lead through folders of another user, who would like root to write elsewhere. So a link that neither this user
/// nor root has made is refused, and root works in the folder that it has opened, even if another takes its name meanwhile.
/// The kernel does not follow such links in folders like /tmp (`fs.protected_symlinks`), but in all others.
enum WholeFile {
    /// Replaces a regular file in one step, follows a link, and writes into anything else: as root it would otherwise put a
    /// file in the place of /dev/null. What is no regular file has to be where no other user can put a link in its place.
    static func write(_ text: String, to path: String) throws {
        let place = try Place(path)
        guard let status = stat(of: path), !status.isFile else { return try place.replace(text) }
        guard !place.isChangeable else { throw CocoaError(.fileWriteNoPermission) }
        let file = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        defer { close(file) }
        guard StandardStream(descriptor: file).writeAll(Array(text.utf8)) == nil else {
            throw CocoaError(SystemError.last.isDiskFull ? .fileWriteOutOfSpace : .fileWriteUnknown)
        }
    }

    /// Makes the file. Throws `CocoaError.fileWriteFileExists` if there is anything by this name, even a link. Leaves no part
    /// of it when it throws.
    static func create(_ text: String, at path: String) throws {
        // The last step of a link's path is what it leads to.
        if stat(ofLink: path) != nil { throw CocoaError(.fileWriteFileExists) }
        try Place(path).create(text)
    }

    /// Opens a file to read it; negative with `errno` if it cannot be opened.
    ///
    /// Throws for root if another user has put a link on the way, or could put something there and it is no regular file with
    /// one name: root would send on what that user may not read, or read without end.
    static func open(_ path: String) throws -> Int32 {
        guard geteuid() == 0 else { return Glibc.open(path, O_RDONLY | O_CLOEXEC) }
        let place = try Place(path)
        return place.isChangeable ? try place.open() : Glibc.open(path, O_RDONLY | O_CLOEXEC)
    }
}

/// Where a path leads.
private struct Place {
    private let steps: [PathSteps.Step]
    /// Those who may decide it. The owner of `/` is root, under another number in a user namespace.
    private let owners: Set<uid_t>
    private let folder: String
    private let name: String
    private let isComplete: Bool

    /// Throws for a link of another user.
    init(_ path: String) throws {
        let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath + "/"
        let found = PathSteps(to: start + path)
        steps = found.steps
        isComplete = found.isComplete && !path.hasSuffix("/")
        owners = [0, geteuid(), steps.first?.status?.st_uid ?? 0]
        let end = (steps.last?.path ?? path) as NSString
        folder = end.deletingLastPathComponent
        name = end.lastPathComponent
        let links = steps.compactMap(\.status).filter(\.isLink)
        guard links.allSatisfy(isOwn) else { throw CocoaError(.fileWriteNoPermission) }
    }

    private func isOwn(_ status: stat) -> Bool { owners.contains(status.st_uid) }

    /// Whether another user could put something else there. The group of a directory counts as its owner.
    var isChangeable: Bool { steps.contains(where: isChangeable) }

    private func isChangeable(_ step: PathSteps.Step) -> Bool {
        guard let folder = step.folder else { return false }
        guard isOwn(folder) else { return true }
        guard folder.isOpenToAll else { return false }
        return !folder.isSticky || step.status.map(isOwn) != true
    }

    /// Opens a regular file that has no other name elsewhere.
    func open() throws -> Int32 {
        let file = NamedFile.open((folder as NSString).appendingPathComponent(name), O_RDONLY | O_NONBLOCK)
        guard file >= 0 else { return file }
        guard let status = stat(of: file), status.isFile, status.st_nlink == 1 else {
            close(file)
            throw CocoaError(.fileReadNoPermission)
        }
        return file
    }

    func replace(_ text: String) throws {
        try inFolder { _, path in try Data(text.utf8).write(to: URL(filePath: path), options: [.atomic]) }
    }

    func create(_ text: String) throws {
        try inFolder { folder, path in
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else {
                throw CocoaError(errno == EEXIST ? .fileWriteFileExists : .fileWriteNoPermission)
            }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            do {
                try file.write(contentsOf: Data(text.utf8))
                try file.synchronize()
            } catch {
                // A part of it would keep the next attempt from the file.
                unlinkat(folder, name, 0)
                throw error
            }
        }
    }

    /// Calls `body` with the folder, and with a path of the file that leads through it.
    private func inFolder(_ body: (_ folder: Int32, _ path: String) throws -> Void) throws {
        guard isComplete else { throw CocoaError(.fileNoSuchFile) }
        let descriptor =
            geteuid() == 0
            ? NamedFile.open(folder, Self.asPlace) : Glibc.open(folder, Self.asPlace | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteNoPermission) }
        defer { close(descriptor) }
        try body(descriptor, "/proc/self/fd/\(descriptor)/\(name)")
    }

    /// `O_PATH`, which is not in Swift's Glibc: needs no permission to list the folder.
    private static let asPlace = O_DIRECTORY | 0o10000000
}
