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

    /// JSON with a tag of its own.
    static func tagged(_ bytes: [UInt8]) -> Response { tagged(bytes, EntityTag.text(of: bytes)) }

    /// JSON with its tag; 304 if it is one of those that are `known`.
    static func tagged(_ bytes: [UInt8], _ tag: String, _ known: [String]) -> Response {
        EntityTag.isKnown(tag, to: known) ? unchanged(tag) : tagged(bytes, tag)
    }

    private static func tagged(_ bytes: [UInt8], _ tag: String) -> Response {
        var response = Response.json(200, bytes)
        response.headers.append(("ETag", tag))
        return response
    }

    /// 304 if the caller has this version already.
    consuming func unlessKnown(to request: Request) -> Response {
        let known = EntityTag.known(by: request)
        guard let tag, EntityTag.isKnown(tag, to: known) else { return self }
        status = 304
        headers.removeAll { $0.name == "Content-Type" }
        body = .bytes([])
        return self
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
