internal import SocketServer
internal import Synchronization

/// Names requests, so that an answer, the log and a caller's own log can be compared: `X-Request-Id`.
///
/// An id is the caller's, if it is plain, else made of a random part for each start of the daemon and a counter.
package final class RequestIDs: Sendable {
    /// The longest id that is taken from a caller.
    static let longest = 128

    private let start: UInt64
    private let last = Atomic<UInt64>(0)

    /// `start`: the random part; 24 bits of it are used.
    package init(start: UInt32) {
        self.start = UInt64(start & 0xFF_FFFF)
    }

    func id(of request: Request) -> String {
        if let given = request.headers[single: "X-Request-Id"], Self.isPlain(given) { return given }
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        var count = 1
        while count < 16, number >> UInt64(4 * count) != 0 { count += 1 }
        // In one piece, because to join texts takes longer than to write them.
        return String(unsafeUninitializedCapacity: 7 + count) { text in
            Self.write(start, digits: 6, to: text, at: 0)
            text[6] = UInt8(ascii: "-")
            Self.write(number, digits: count, to: text, at: 7)
            return 7 + count
        }
    }

    /// Whether it can stand in a log line, a header field and a JSON text as it is.
    private static func isPlain(_ id: String) -> Bool {
        let bytes = id.utf8
        return !bytes.isEmpty && bytes.count <= longest
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: "@"):
                    true
                default: false
                }
            }
    }

    private static func write(
        _ number: UInt64, digits count: Int, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) {
        for position in 0..<count {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * (count - 1 - position))) & 15
            text[start + position] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }
}
