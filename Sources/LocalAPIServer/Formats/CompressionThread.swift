internal import CacheStore
internal import Synchronization

/// Compresses large answers away from the threads that serve everybody. Callers take turns.
final class CompressionThread: Sendable {
    /// The most bytes of answers that are compressed or wait for it; one caller may have half of it.
    private static let mostBytes = 32 << 20

    private struct Held {
        var total = 0
        var ofCaller: [ReadCaller: Int] = [:]
    }

    private let threads = FairThreads("compression", count: 1)
    private let held = Mutex(Held())

    /// The whole answer, compressed. Nil if too many wait, if its caller has gone, or if zlib gets no memory.
    func compressed(_ bytes: [UInt8], for caller: ReadCaller) async -> [UInt8]? {
        guard hold(bytes.count, for: caller) else { return nil }
        defer { letGo(of: bytes.count, for: caller) }
        return try? await threads.result(for: caller) { isCancelled in
            guard !isCancelled.isSet, let gzip = GzipStream() else { throw CancellationError() }
            return gzip.compressed(bytes, isLast: true)
        }
    }

    /// A piece of a stream. Throws if the stream's reader has gone.
    func compressed(_ piece: consuming [UInt8], by gzip: GzipStream, for caller: ReadCaller) async throws -> [UInt8] {
        let piece = consume piece
        return try await threads.result(for: caller) { isCancelled in
            guard !isCancelled.isSet else { throw CancellationError() }
            return gzip.compressed(piece)
        }
    }

    private func hold(_ bytes: Int, for caller: ReadCaller) -> Bool {
        held.withLock { held in
            let own = held.ofCaller[caller, default: 0] + bytes
            guard held.total + bytes <= Self.mostBytes, own <= Self.mostBytes / 2 else { return false }
            held.total += bytes
            held.ofCaller[caller] = own
            return true
        }
    }

    private func letGo(of bytes: Int, for caller: ReadCaller) {
        held.withLock { held in
            held.total -= bytes
            let own = held.ofCaller[caller, default: 0] - bytes
            held.ofCaller[caller] = own > 0 ? own : nil
        }
    }
}
