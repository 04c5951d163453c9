internal import CacheStore
internal import JSONText
internal import SocketServer

/// Writes that a caller can repeat when it does not know what became of the first
/// (draft-ietf-httpapi-idempotency-key-header).
extension Handlers {
    /// Does a write and makes its answer in one transaction. With `Idempotency-Key` a repeat of the request is answered as
    /// the first was, and does nothing.
    func write(
        _ request: Request, _ body: @escaping @Sendable (LocalTransaction) throws -> Response
    ) async throws -> Response {
        try await writeOnce(request) { try Written(response: body($0)) }.response
    }

    func writeOnce(
        _ request: Request, _ body: @escaping @Sendable (LocalTransaction) throws -> Written
    ) async throws -> Written {
        guard let key = try IdempotencyKey(request) else {
            return try await store.write(at: now(), clockOffset: clockOffset, body)
        }
        let target = [request.method, request.path, request.query ?? ""].joined(separator: "\n") + "\n"
        let call = RepeatableCall(key: key.text, request: Array(target.utf8) + request.body)
        let kept = try await store.write(once: call, at: now(), clockOffset: clockOffset) { transaction in
            try body(transaction).kept.text
        }
        return try Written(kept: JSONText(parsing: kept))
    }
}

/// What a write is answered, and what carries it where somebody waits for that.
struct Written: Sendable {
    var response: Response
    var queued: QueuedWrite?
}

/// What a caller calls a request that it may repeat.
struct IdempotencyKey {
    static let longest = 255

    let text: String

    /// Nil without the field `Idempotency-Key`. Takes a string of structured fields (RFC 9651, 3.3.3), and the same without
    /// its quotes, as many send it.
    init?(_ request: Request) throws(Problem) {
        let values = request.headers[all: "Idempotency-Key"]
        guard let value = values.first else { return nil }
        let bytes = Array(value.utf8)
        guard values.count == 1, let key = bytes.first == UInt8(ascii: "\"") ? Self.quoted(bytes) : Self.bare(bytes),
            (1...Self.longest).contains(key.count)
        else {
            throw .badRequest(
                "expected one text of 1 to \(Self.longest) visible ASCII characters, such as \"5f0c3a\"",
                field: "Idempotency-Key")
        }
        text = String(decoding: key, as: UTF8.self)
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

extension Written {
    /// As it is written down for repeats of the request.
    fileprivate var kept: JSONText {
        var text = ""
        if case .bytes(let bytes) = response.body { text = String(decoding: bytes, as: UTF8.self) }
        return .object([
            "status": .integer(response.status),
            "headers": .array(response.headers.map { .array([.string($0.name), .string($0.value)]) }),
            "body": .string(text), "queued": queued?.document ?? .null,
        ])
    }

    fileprivate init(kept: JSONText) throws(Problem) {
        guard let status = kept["status"]?.integer, let body = kept["body"]?.string else {
            throw .unavailable("the answer to the first of these requests cannot be read; use another Idempotency-Key")
        }
        let headers = (kept["headers"]?.elements ?? []).compactMap { field in
            let parts = field.elements.compactMap(\.string)
            return parts.count == 2 ? (name: parts[0], value: parts[1]) : nil
        }
        response = Response(status: status, headers: headers, body: Array(body.utf8))
        queued = kept["queued"].flatMap(QueuedWrite.init)
    }
}
