internal import SocketServer

/// The header fields that every answer has, so that browsers and proxies do nothing with it that its caller did not ask.
enum AnswerHeaders {
    /// Adds those that a handler has not set.
    static func complete(_ response: Response) -> Response {
        var response = response
        func isSet(_ name: String) -> Bool { response.headers.contains { $0.name == name } }
        if !isSet("X-Content-Type-Options") { response.headers.append(("X-Content-Type-Options", "nosniff")) }
        // An answer with an ETag may be kept by its caller, and is validated before each use.
        if !isSet("Cache-Control") {
            response.headers.append(("Cache-Control", isSet("ETag") ? "private, no-cache" : "no-store"))
        }
        if !isSet("Cross-Origin-Resource-Policy") {
            response.headers.append(("Cross-Origin-Resource-Policy", "same-origin"))
        }
        return response
    }
}
