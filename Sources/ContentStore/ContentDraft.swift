internal import Crypto
internal import Glibc
internal import Pictures
internal import Synchronization
internal import SystemCalls

/// A content file that is being written. Unless it is installed, it is deleted with its last reference.
package final class ContentDraft: Sendable {
    private struct State {
        var hash = SHA256()
        var size = 0
    }

    package let path: String
    private let descriptor: Int32
    private let limit: Int
    private let state = Mutex(State())

    init(path: String, descriptor: Int32, limit: Int) {
        self.path = path
        self.descriptor = descriptor
        self.limit = limit
    }

    deinit {
        close(descriptor)
        // An installed draft has moved, so there is nothing left to delete.
        unlink(path)
    }

    package var size: Int { state.withLock { $0.size } }

    /// Appends bytes. Throws `.tooLarge` and writes nothing when they would exceed the limit.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(ContentError) {
        try state.withLock { state throws(ContentError) in
            guard bytes.count <= limit - state.size else { throw .tooLarge(limit: limit) }
            guard Files.write(bytes, to: descriptor) else { throw .failing("write", path) }
            state.hash.update(bufferPointer: bytes)
            state.size += bytes.count
        }
    }

    package func write(_ bytes: [UInt8]) throws(ContentError) {
        try bytes.span.withUnsafeBytes { bytes throws(ContentError) in try write(bytes) }
    }

    /// The first bytes written, at most `count`.
    package func beginning(_ count: Int) throws(ContentError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, 0)
        guard read >= 0 else { throw .failing("read", path) }
        return Array(bytes[..<read])
    }

    /// Syncs the file to disk and returns its SHA-256.
    func finish() throws(ContentError) -> String {
        guard fsync(descriptor) == 0 else { throw .failing("write", path) }
        return state.withLock { state in
            state.hash.finalize().map { byte in
                let digits = String(byte, radix: 16)
                return digits.utf8.count == 1 ? "0\(digits)" : digits
            }.joined()
        }
    }
}

extension ContentDraft {
    /// The media type of the bytes written. A picture's type comes from its first bytes, whatever type was declared.
    ///
    /// Throws `.unwelcome` for a type that is not allowed, and for bytes declared as a picture that do not start like
    /// one.
    package func type(saidToBe declared: String?, among allowed: [String]) throws(ContentError) -> String {
        let declared = declared.map { $0.prefix { $0 != ";" }.lowercased().filter { $0 != " " } }
        if let kind = PictureKind(beginningWith: try beginning(PictureKind.signatureLength)) {
            guard allowed.contains(kind.mediaType) else { throw .unwelcome("it is \(kind.mediaType)") }
            return kind.mediaType
        }
        guard let declared, !declared.isEmpty else { throw .unwelcome("its type is unknown") }
        guard PictureKind(mediaType: declared) == nil else {
            throw .unwelcome("it is declared as \(declared) but is not")
        }
        guard allowed.contains(declared) else { throw .unwelcome("it is \(declared)") }
        return declared
    }
}
