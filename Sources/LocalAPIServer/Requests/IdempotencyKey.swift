internal import SocketServer

/// The name that a caller gives a request that it may repeat
/// (draft-ietf-httpapi-idempotency-key-header).
struct IdempotencyKey {
    static let longest = 255

    let text: String

    /// Nil without the field `Idempotency-Key`. Accepts a string of structured fields (RFC 9651, 3.3.3), and the same
    /// without quotes, as many clients send it. The draft gives the field no parameters, so there are none.
    init?(_ request: Request) throws(Problem) {
        let values = request.headers[all: "Idempotency-Key"]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw Self.problem("the request has it \(values.count) times; send one key") }
        let bytes = Array(value.utf8)
        guard let key = bytes.first == UInt8(ascii: "\"") ? Self.quoted(bytes) : Self.bare(bytes), !key.isEmpty else {
            throw Self.problem(
                "expected one text of 1 to \(Self.longest) visible ASCII characters, such as \"5f0c3a\", without a list "
                    + "or parameters")
        }
        guard key.count <= Self.longest else {
            throw Self.problem("the key has \(key.count) characters; at most \(Self.longest) are possible")
        }
        text = String(decoding: key, as: UTF8.self)
    }

    private static func problem(_ detail: String) -> Problem {
        .badRequest("Idempotency-Key: \(detail)", field: "Idempotency-Key")
    }

    private static func bare(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\,;".utf8.contains($0) } ? bytes : nil
    }

    private static func quoted(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2, bytes.last == UInt8(ascii: "\"") else { return nil }
        var key: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            let isSpecial = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            guard (0x20...0x7E).contains(byte), isSpecial || !isEscaped else { return nil }
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else if isSpecial && !isEscaped {
                return nil
            } else {
                key.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? nil : key
    }
}
