internal import Crypto
internal import Glibc
internal import Pictures
internal import Synchronization

/// A file that is being written and has no name among contents yet; without being installed it goes with its last
/// reference.
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
        // Nothing is there any more once it was installed.
        unlink(path)
    }

    package var size: Int { state.withLock { $0.size } }

    /// Appends bytes. Throws `.tooLarge` for what goes beyond the limit; nothing of it is written then.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(ContentError) {
        try state.withLock { state throws(ContentError) in
            guard bytes.count <= limit - state.size else { throw .tooLarge(limit: limit) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { throw .failing("write", path) }
                rest = rest.dropFirst(max(count, 0))
            }
            state.hash.update(bufferPointer: bytes)
            state.size += bytes.count
        }
    }

    package func write(_ bytes: [UInt8]) throws(ContentError) {
        try bytes.span.withUnsafeBytes { bytes throws(ContentError) in try write(bytes) }
    }

    /// The first bytes of what was written, at most `count`.
    package func beginning(_ count: Int) throws(ContentError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, 0)
        guard read >= 0 else { throw .failing("read", path) }
        return Array(bytes[..<read])
    }

    /// Brings all of it to disk and returns the SHA-256.
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
    /// The media type of what was written. A picture is of the type that its first bytes show, whatever it is said to be;
    /// what is said to be a picture and begins like none is none.
    ///
    /// Throws `.unwelcome` for a type that is not among those allowed.
    package func type(saidToBe declared: String?, among allowed: [String]) throws(ContentError) -> String {
        let declared = declared.map { $0.prefix { $0 != ";" }.lowercased().filter { $0 != " " } }
        if let kind = PictureKind(beginningWith: try beginning(PictureKind.signatureLength)) {
            guard allowed.contains(kind.mediaType) else { throw .unwelcome("it is \(kind.mediaType)") }
            return kind.mediaType
        }
        guard let declared, !declared.isEmpty else { throw .unwelcome("it is of no known type") }
        guard PictureKind(mediaType: declared) == nil else {
            throw .unwelcome("it is said to be \(declared) and is not")
        }
        guard allowed.contains(declared) else { throw .unwelcome("it is \(declared)") }
        return declared
    }
}
