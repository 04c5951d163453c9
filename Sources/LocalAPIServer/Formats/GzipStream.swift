internal import CZlib
internal import Synchronization

/// Compresses one answer piece by piece (gzip, RFC 1952).
final class GzipStream: Sendable {
    private let deflate: Mutex<Deflate>

    /// Nil if zlib gets no memory.
    init?() {
        guard let deflate = Deflate.make() else { return nil }
        self.deflate = Mutex(deflate)
    }

    /// The compressed bytes that are ready after this piece; may be none. Nothing may follow the last piece.
    func compressed(_ bytes: [UInt8], isLast: Bool = false) -> [UInt8] {
        deflate.withLock { $0.compressed(bytes, isLast: isLast) }
    }
}

/// A stream of zlib. It must not move in memory, because zlib keeps its address.
private struct Deflate: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    private init(_ stream: UnsafeMutablePointer<z_stream>) { self.stream = stream }

    /// Compresses at the fastest level: callers are on this machine or near it, so time matters more than size.
    static func make() -> Deflate? {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let gzip = MAX_WBITS + 16
        let code = deflateInit2_(
            stream, Z_BEST_SPEED, Z_DEFLATED, gzip, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            stream.deallocate()
            return nil
        }
        return Deflate(stream)
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    mutating func compressed(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var (input, output) = (bytes, [UInt8]())
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = uInt(input.count)
            withUnsafeTemporaryAllocation(byteCount: 1 << 15, alignment: 1) { space in
                repeat {
                    stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = uInt(space.count)
                    deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    output += space[..<(space.count - Int(stream.pointee.avail_out))]
                } while stream.pointee.avail_out == 0
            }
        }
        return output
    }
}
