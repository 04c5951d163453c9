internal import CacheStore
internal import JSONText
internal import SocketServer

extension Response {
    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        Response(status: status, headers: headers("Content-Type", "application/json"), body: bytes)
    }

    /// One field, with room for those that are added on the way to the caller.
    private static func headers(_ name: String, _ value: String) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(8)
        headers.append((name, value))
        return headers
    }

    static func document(_ document: JSONText, _ status: Int = 200) -> Response {
        .json(status, Array(document.bytes))
    }

    /// JSON with a tag of its own; 304 if the caller has it already.
    static func tagged(_ bytes: [UInt8], for request: Request) -> Response {
        tagged(bytes, EntityTag.text(of: bytes), EntityTag.known(by: request))
    }

    /// JSON with its tag; 304 if it is one of those that are `known`.
    static func tagged(_ bytes: [UInt8], _ tag: String, _ known: [String]) -> Response {
        guard !EntityTag.isKnown(tag, to: known) else { return unchanged(tag) }
        var response = Response.json(200, bytes)
        response.headers.append(("ETag", tag))
        return response
    }

    static func unchanged(_ tag: String) -> Response { Response(status: 304, headers: headers("ETag", tag)) }

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
