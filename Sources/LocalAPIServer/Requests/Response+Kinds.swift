internal import CacheStore
internal import JSONText
internal import SocketServer

extension Response {
    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        var headers: [(name: String, value: String)] = []
        // For those that are added on the way to the caller.
        headers.reserveCapacity(8)
        headers.append(("Content-Type", "application/json"))
        return Response(status: status, headers: headers, body: bytes)
    }

    static func document(_ document: JSONText, _ status: Int = 200) -> Response {
        .json(status, Array(document.bytes))
    }

    /// JSON with a tag of its own; 304 if the caller has it already.
    static func tagged(_ bytes: [UInt8], for request: Request) -> Response {
        let tag = EntityTag.text(of: bytes)
        var response = EntityTag.isKnown(tag, to: request) ? Response(status: 304) : Response.json(200, bytes)
        response.headers.append(("ETag", tag))
        return response
    }

    /// Its `ETag`.
    var tag: String? { headers.first { $0.name == "ETag" }?.value }

    static func text(_ text: String) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    /// A record with its version.
    static func record(_ status: Int, _ shown: ShownRecord) -> Response {
        var response = Response.json(status, shown.bytes)
        response.headers.append(("ETag", EntityTag.text(of: shown.version)))
        return response
    }
}
