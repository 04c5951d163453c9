internal import CacheStore
internal import SocketServer

extension Response {
    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        Response(status: status, headers: [("Content-Type", "application/json")], body: bytes)
    }

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
