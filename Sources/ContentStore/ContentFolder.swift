internal import Dispatch
package import EntitySchema
internal import Glibc
internal import Synchronization
internal import SystemCalls

/// The content files beside one database, each named by its SHA-256.
///
/// A text that is no SHA-256 names no file here, wherever it comes from: `../api-token` may stand in a database.
///
/// The database counts which of them are needed. `install` and `retire` are each one atomic file system operation; call
/// them inside the transaction that changes the count, so the two cannot race.
package final class ContentFolder: Sendable {
    package let path: String
    /// The number of drafts so far, which names them.
    private let count = Atomic<UInt64>(0)
    /// For operations that wait for the disk.
    private let disk = DispatchQueue(label: "content", attributes: .concurrent)

    /// Creates the folder if it is missing, readable by this user only, and deletes drafts that a crash left behind.
    package init(path: String) throws(ContentError) {
        self.path = path
        for folder in [path, drafts, gone] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .failing("make", folder) }
        }
        for name in try Self.names(in: drafts) { unlink("\(drafts)/\(name)") }
    }

    private var drafts: String { "\(path)/drafts" }
    private var gone: String { "\(path)/gone" }
    private func folder(of sha256: String) -> String { "\(path)/\(sha256.prefix(2))" }

    /// The path of this content's file, whether or not it exists; nil for a text that is no SHA-256.
    package func path(of sha256: String) -> String? {
        Content.isName(sha256) ? "\(folder(of: sha256))/\(sha256.dropFirst(2))" : nil
    }

    // MARK: Writing

    /// A new draft of at most `limit` bytes.
    package func draft(limit: Int) throws(ContentError) -> ContentDraft {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let path = "\(drafts)/\(number)"
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failing("make", path) }
        return ContentDraft(path: path, descriptor: descriptor, limit: limit)
    }

    /// Syncs the draft to disk and returns its content, which does not exist until `install`.
    package func finish(_ draft: ContentDraft, type: String) async throws(ContentError) -> Content {
        let sha256 = try await onDisk { () throws(ContentError) in try draft.finish() }
        return Content(sha256: sha256, size: draft.size, type: type)
    }

    /// Moves the finished draft to its content's path in one step. An existing file there has the same bytes.
    /// Idempotent.
    package func install(_ draft: ContentDraft, as sha256: String) throws(ContentError) {
        guard let path = path(of: sha256) else { throw .nameless(sha256) }
        try place(draft.path, at: path, in: folder(of: sha256))
    }

    // MARK: Thumbnails

    private func thumbnailPath(of sha256: String, size: Int) -> String? { path(of: sha256).map { "\($0).\(size)" } }

    /// Stores the finished draft as a content's thumbnail, which is removed with the content.
    package func install(_ draft: ContentDraft, asThumbnailOf sha256: String, size: Int) throws(ContentError) {
        guard let path = thumbnailPath(of: sha256, size: size) else { throw .nameless(sha256) }
        try place(draft.path, at: path, in: folder(of: sha256))
    }

    /// Nil when none has been made yet.
    package func thumbnail(of sha256: String, size: Int) throws(ContentError) -> ContentFile? {
        guard let path = thumbnailPath(of: sha256, size: size) else { return nil }
        return try ContentFile(path: path)
    }

    // MARK: Reading

    /// Nil when it does not exist, or is being removed.
    package func open(_ sha256: String) throws(ContentError) -> ContentFile? {
        guard let path = path(of: sha256) else { return nil }
        return try ContentFile(path: path)
    }

    /// Every content with a file.
    package func all() throws(ContentError) -> Set<String> {
        var found: Set<String> = []
        for prefix in try Self.names(in: path) where prefix.utf8.count == 2 {
            for name in try Self.names(in: "\(path)/\(prefix)") {
                let sha256 = prefix + name.prefix { $0 != "." }
                if Content.isName(sha256) { found.insert(sha256) }
            }
        }
        return found
    }

    // MARK: Removing

    /// Moves a content's file and thumbnails out of reach, each in one step; `eraseRetired` destroys them. Leaves the
    /// files of a text that is no SHA-256 alone.
    package func retire(_ sha256: String) throws(ContentError) {
        guard Content.isName(sha256) else { return }
        let folder = folder(of: sha256)
        for name in try Self.names(in: folder) where name.prefix(while: { $0 != "." }) == sha256.dropFirst(2) {
            let target = "\(gone)/\(sha256.prefix(2))\(name)"
            guard rename("\(folder)/\(name)", target) == 0 || errno == ENOENT else { throw .failing("retire", target) }
        }
    }

    /// Overwrites and deletes retired files. A file that is still being read is left for the next call.
    package func eraseRetired() async throws(ContentError) {
        try await onDisk { [self] () throws(ContentError) in
            for name in try Self.names(in: gone) { try erase("\(gone)/\(name)") }
        }
    }

    private func erase(_ path: String) throws(ContentError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            // The file behind a link is not this folder's.
            if errno == ENOENT || errno == ELOOP && unlink(path) == 0 { return }
            throw .failing("overwrite", path)
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        guard let status = stat(of: descriptor) else { throw .failing("overwrite", path) }
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        var left = status.st_size
        while left > 0 {
            let count = write(descriptor, zeros, min(left, zeros.count))
            guard count > 0 || errno == EINTR else { throw .failing("overwrite", path) }
            left -= max(count, 0)
        }
        guard fsync(descriptor) == 0, unlink(path) == 0 else { throw .failing("delete", path) }
    }

    // MARK: Steps

    private func place(_ source: String, at target: String, in folder: String) throws(ContentError) {
        if mkdir(folder, 0o700) == 0, !Files.syncFolder(of: folder) { throw .failing("write", path) }
        let isPlaced = rename(source, target) == 0 || errno == ENOENT && access(target, F_OK) == 0
        guard isPlaced else { throw .failing("write", target) }
        guard Files.syncFolder(of: target) else { throw .failing("write", folder) }
    }

    /// Empty for a folder that does not exist.
    private static func names(in folder: String) throws(ContentError) -> [String] {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw .failing("read", folder)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Waits for the disk without blocking a thread of the concurrency pool.
    private func onDisk<Result: Sendable>(
        _ work: @escaping @Sendable () throws(ContentError) -> Result
    ) async throws(ContentError) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            disk.async { continuation.resume(returning: Swift.Result { () throws(ContentError) in try work() }) }
        }
        return try outcome.get()
    }
}

/// Why content was not written or read.
package enum ContentError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is larger than allowed: send less.
    case tooLarge(limit: Int)
    /// Its type is not allowed: send another. The text names its type.
    case unwelcome(String)
    /// A file system operation failed: check the free space and the folder's owner.
    case failed(String)

    package var description: String {
        switch self {
        case .tooLarge(let limit): "the content is larger than \(limit) bytes"
        case .unwelcome(let what): "the content's type is not accepted: \(what)"
        case .failed(let message): message
        }
    }

    static func nameless(_ sha256: String) -> ContentError { .failed("\(sha256) is not the name of a content") }

    static func failing(_ operation: String, _ path: String) -> ContentError {
        .failed(
            "could not \(operation) \(path): \(SystemError.last); check the free space and the owner")
    }
}
