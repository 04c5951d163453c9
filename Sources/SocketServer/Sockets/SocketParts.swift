import Glibc

/// Parts of one message that are sent in one call, without copying them together.
struct SocketParts {
    private let parts: ([UInt8], [UInt8], [UInt8])

    init(_ head: [UInt8], _ body: [UInt8], _ tail: [UInt8]) { parts = (head, body, tail) }

    /// Sends what the kernel takes after the first `start` bytes; returns the count, or -1 with `errno`.
    func send(from start: Int, to descriptor: Int32) -> Int {
        parts.0.withUnsafeBytes { first in
            parts.1.withUnsafeBytes { second in
                parts.2.withUnsafeBytes { third in
                    withUnsafeTemporaryAllocation(of: iovec.self, capacity: 3) { vectors in
                        var skip = start
                        var count = 0
                        for part in [first, second, third] {
                            let used = min(skip, part.count)
                            skip -= used
                            guard used < part.count else { continue }
                            let rest = UnsafeMutableRawPointer(mutating: part.baseAddress?.advanced(by: used))
                            vectors[count] = iovec(iov_base: rest, iov_len: part.count - used)
                            count += 1
                        }
                        var message = msghdr()
                        message.msg_iov = vectors.baseAddress
                        message.msg_iovlen = count
                        return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
    }
}
