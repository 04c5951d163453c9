internal import SocketServer

/// The header fields that every answer has: those of its request, and those that keep browsers and proxies from doing
/// anything with it that its caller did not ask.
enum AnswerHeaders {
    private static let unkept = usual(caching: "no-store")
    /// An answer with an ETag may be kept by its caller, and is validated before each use.
    private static let validated = usual(caching: "private, no-cache")

    private static func usual(caching: String) -> FixedFields {
        FixedFields([
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", caching),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Vary", Response.vary),
        ])
    }

    /// Adds those that a handler has not set, and the id of the request. Unless they `mayBeKept`, a browser must not write
    /// answers to its disk, not even those with an ETag.
    static func complete(_ response: inout Response, to request: Request, mayBeKept: Bool = true) {
        var (hasTag, hasUsual) = (false, false)
        for (name, _) in response.headers {
            switch name.utf8.count {
            case 4 where name == "ETag": hasTag = true
            case 4, 13, 22, 28: hasUsual = hasUsual || unkept.fields.contains { $0.name == name }
            default: break
            }
        }
        let usual = hasTag && mayBeKept ? validated : unkept
        if hasUsual {
            let names = response.headers.map(\.name)
            response.headers += usual.fields.filter { !names.contains($0.name) }
        } else {
            response.fixed = usual
        }
        response.headers.append(("X-Request-Id", request.id))
    }
}
