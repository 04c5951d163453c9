internal import CacheStore
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

    /// More bytes take milliseconds, or a second, on a thread that others wait for.
    private static let mostAtOnce = 64 << 10

    /// Costs nothing for a small answer, and a look at one header field for a large one. Leaves an answer that `takesLong` as it
    /// is.
    static func apply(to response: inout Response, for request: Request, on thread: CompressionThread) {
        switch response.body {
        case .bytes(let bytes) where bytes.count > least:
            guard bytes.count <= mostAtOnce, fits(response, request), let gzip = GzipStream() else { return }
            code(&response, .bytes(gzip.compressed(bytes, isLast: true)))
        case .stream(let produce):
            guard fits(response, request) else { return }
            let caller = ReadCaller(request)
            code(&response, .stream { write in try await Self.compress(produce, write, on: thread, for: caller) })
        case .bytes, .pieces:
            if response.status == 304 { EntityTag.name(&response, as: request) }
        }
    }

    /// Whether the answer would have to be compressed by `compressed`.
    static func takesLong(_ response: Response, for request: Request) -> Bool {
        guard case .bytes(let bytes) = response.body, bytes.count > mostAtOnce else { return false }
        return fits(response, request)
    }

    /// A large answer, compressed on a thread of its own. While many wait for that thread, it stays as it is.
    static func compressed(
        _ response: consuming Response, for request: Request, on thread: CompressionThread
    ) async -> Response {
        var response = response
        guard takesLong(response, for: request), case .bytes(let bytes) = response.body,
            let compressed = await thread.compressed(bytes, for: ReadCaller(request))
        else { return response }
        code(&response, .bytes(compressed))
        return response
    }

    private static func compress(
        _ produce: Response.Producer, _ write: @escaping Response.Write, on thread: CompressionThread,
        for caller: ReadCaller
    ) async throws {
        guard let gzip = GzipStream() else { throw OutOfMemory() }
        // A page is let go of before its reader takes the compressed bytes.
        try await produce { piece in
            guard piece.count > mostAtOnce else { return try await write(gzip.compressed(consume piece)) }
            try await write(thread.compressed(consume piece, by: gzip, for: caller))
        }
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
