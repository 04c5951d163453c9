internal import SocketServer

extension Response {
    static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
        Response(status: status, headers: [("Content-Type", "application/json")], body: bytes)
    }

    static func text(_ text: String) -> Response {
        Response(status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }
}
