internal import Dispatch
package import EntitySchema
internal import Glibc
internal import Synchronization

/// The files beside one database that hold what records have besides their fields, each named by its SHA-256.
///
/// Says nothing of which are needed: that is counted in the database. `install` and `retire` are each one step of the file
/// system, meant to be called inside the transaction that counts, so that the two can never cross.
package final class ContentFolder: Sendable {
    package let path: String
    /// Drafts made so far, which names them.
    private let count = Atomic<UInt64>(0)
    /// For what waits for the disk.
    private let disk = DispatchQueue(label: "content", attributes: .concurrent)

    /// Makes the folder if it is not there, for this user alone, and forgets drafts that a crash left behind.
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

    /// Where the file of this content is, if it is here.
    package func path(of sha256: String) -> String { "\(folder(of: sha256))/\(sha256.dropFirst(2))" }

    // MARK: Writing

    /// A new file that is nobody's content yet, of at most `limit` bytes.
    package func draft(limit: Int) throws(ContentError) -> ContentDraft {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let path = "\(drafts)/\(number)"
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failing("make", path) }
        return ContentDraft(path: path, descriptor: descriptor, limit: limit)
    }

    /// Brings the draft to disk and says what it is; it is nobody's content until it is installed.
    package func finish(_ draft: ContentDraft, type: String) async throws(ContentError) -> Content {
        let sha256 = try await onDisk { () throws(ContentError) in try draft.finish() }
        return Content(sha256: sha256, size: draft.size, type: type)
    }

    /// Makes the finished draft the file of its content, in one step; one that is there already is the same. Idempotent.
    package func install(_ draft: ContentDraft, as sha256: String) throws(ContentError) {
        try place(draft.path, at: path(of: sha256), in: folder(of: sha256))
    }

    // MARK: Thumbnails

    private func thumbnail(of sha256: String, size: Int) -> String { "\(path(of: sha256)).\(size)" }

    /// Keeps the finished draft as the thumbnail of a content; it goes when that goes.
    package func install(_ draft: ContentDraft, asThumbnailOf sha256: String, size: Int) throws(ContentError) {
        try place(draft.path, at: thumbnail(of: sha256, size: size), in: folder(of: sha256))
    }

    /// Nil where none has been made yet.
    package func thumbnail(of sha256: String, size: Int) throws(ContentError) -> ContentFile? {
        try ContentFile(path: thumbnail(of: sha256, size: size))
    }

    // MARK: Reading

    /// Nil where it is not here, or just being removed.
    package func open(_ sha256: String) throws(ContentError) -> ContentFile? { try ContentFile(path: path(of: sha256)) }

    /// Every content there is a file of.
    package func all() throws(ContentError) -> Set<String> {
        var found: Set<String> = []
        for prefix in try Self.names(in: path) where prefix.utf8.count == 2 {
            for name in try Self.names(in: "\(path)/\(prefix)") { found.insert(prefix + name.prefix { $0 != "." }) }
        }
        return found
    }

    // MARK: Removing

    /// Takes a content's file and thumbnails out of sight, each in one step; `eraseRetired` destroys them.
    package func retire(_ sha256: String) throws(ContentError) {
        let folder = folder(of: sha256)
        for name in try Self.names(in: folder) where name.prefix(while: { $0 != "." }) == sha256.dropFirst(2) {
            let target = "\(gone)/\(sha256.prefix(2))\(name)"
            guard rename("\(folder)/\(name)", target) == 0 || errno == ENOENT else { throw .failing("retire", target) }
        }
    }

    /// Overwrites and deletes what was retired. What somebody still reads is left for the next time.
    package func eraseRetired() async throws(ContentError) {
        try await onDisk { [self] () throws(ContentError) in
            for name in try Self.names(in: gone) { try erase("\(gone)/\(name)") }
        }
    }

    private func erase(_ path: String) throws(ContentError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw .failing("overwrite", path)
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .failing("overwrite", path) }
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        var left = Int(status.st_size)
        while left > 0 {
            let count = write(descriptor, zeros, min(left, zeros.count))
            guard count > 0 || errno == EINTR else { throw .failing("overwrite", path) }
            left -= max(count, 0)
        }
        guard fsync(descriptor) == 0, unlink(path) == 0 else { throw .failing("delete", path) }
    }

    // MARK: Steps

    /// Renames and makes that last: a name is on disk only once its folder is.
    private func place(_ source: String, at target: String, in folder: String) throws(ContentError) {
        if mkdir(folder, 0o700) == 0 { try Self.sync(path) }
        let isPlaced = rename(source, target) == 0 || errno == ENOENT && access(target, F_OK) == 0
        guard isPlaced else { throw .failing("write", target) }
        try Self.sync(folder)
    }

    private static func sync(_ folder: String) throws(ContentError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failing("write", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failing("write", folder) }
    }

    /// Empty for a folder that is not there.
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

    /// Waits for the disk without keeping a thread from others.
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
    /// It has more bytes than it may have: send less.
    case tooLarge(limit: Int)
    /// It is of a type that it may not have: send another; the text says of which it is.
    case unwelcome(String)
    /// The file system does not do what it should: see that there is room, and whose the folder is.
    case failed(String)

    package var description: String {
        switch self {
        case .tooLarge(let limit): "the content is larger than \(limit) bytes"
        case .unwelcome(let what): "the content is not of a type that is taken: \(what)"
        case .failed(let message): message
        }
    }

    static func failing(_ deed: String, _ path: String) -> ContentError {
        .failed("could not \(deed) \(path): \(String(cString: strerror(errno))); check the room there and its owner")
    }
}
