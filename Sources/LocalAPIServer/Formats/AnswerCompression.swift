internal import SocketServer

/// Compresses answers for callers who ask for it (`Accept-Encoding: gzip`).
///
/// Never compressed are small answers, media that are compressed already, streams of events, which compression would delay,
/// and answers with `no-transform`. Those show secrets, and the size of a compressed text can give away what is in it.
enum AnswerCompression {
    /// Compressing an answer of at most this many bytes is not worth it.
    private static let least = 4 << 10
    private static let types = [
        "application/json", "application/problem+json", "application/x-ndjson", "application/jsonl", "image/svg+xml",
        "text/csv", "text/css", "text/html", "text/javascript", "text/plain",
    ]

    /// Costs nothing for a small answer, and a look at one header field for a large one.
    static func apply(to response: inout Response, for request: Request) {
        switch response.body {
        case .bytes(let bytes) where bytes.count > least:
            guard fits(response, request), let gzip = GzipStream() else { return }
            code(&response, .bytes(gzip.compressed(bytes, isLast: true)))
        case .stream(let produce):
            guard fits(response, request) else { return }
            code(&response, .stream { write in try await Self.compress(produce, write) })
        case .bytes, .pieces:
            if response.status == 304 { EntityTag.name(&response, as: request) }
        }
    }

    private static func compress(
        _ produce: Response.Producer, _ write: @escaping Response.Write
    ) async throws {
        guard let gzip = GzipStream() else { throw OutOfMemory() }
        // A page is let go of before its reader takes the compressed bytes.
        try await produce { piece in try await write(gzip.compressed(consume piece)) }
        try await write(gzip.compressed([], isLast: true))
    }

    private struct OutOfMemory: Error {}

    private static func fits(_ response: Response, _ request: Request) -> Bool {
        guard isWanted(by: request) else { return false }
        for (name, value) in response.headers {
            switch name {
            case "Content-Type": if !types.contains(PatchFormat.mediaType(value)) { return false }
            case "Cache-Control": if value.contains("no-transform") { return false }
            case "Content-Encoding", "Content-Range": return false
            default: break
            }
        }
        return true
    }

    /// Whether the caller accepts gzip, and likes it at least as much as no coding (RFC 9110, 12.5.3).
    private static func isWanted(by request: Request) -> Bool {
        // Most callers name no coding, or only identity. Looking for a `*` or a `z` costs less than parsing the field.
        let fields = request.headers[all: "Accept-Encoding"]
        guard fields.contains(where: { $0.utf8.contains { $0 == 0x2A || $0 | 0x20 == 0x7A } }) else { return false }
        let wanted = WeightedItem.all(of: "Accept-Encoding", in: request)
        func weight(_ names: String...) -> Int? {
            names.lazy.compactMap { name in wanted.first { $0.name == name }?.weight }.first
        }
        let gzip = weight("gzip", "x-gzip", "*") ?? 0
        return gzip > 0 && gzip >= weight("identity") ?? 0
    }

    private static func code(_ response: inout Response, _ body: Response.Body) {
        response.body = body
        response.headers.append(("Content-Encoding", "gzip"))
        EntityTag.markCoded(&response)
    }
}
