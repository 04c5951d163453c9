internal import SocketServer

/// The header fields that every answer has: those of its request, and those that keep browsers and proxies from doing
/// anything with it that its caller did not ask.
enum AnswerHeaders {
    /// Adds those that a handler has not set, and the id of the request. One pass, and in place, since every answer pays for it.
    static func complete(_ response: inout Response, to request: Request) {
        var (hasType, hasPolicy, hasCaching, hasTag, hasVary) = (false, false, false, false, false)
        for (name, _) in response.headers {
            switch name.utf8.count {
            case 4: if name == "ETag" { hasTag = true } else if name == "Vary" { hasVary = true }
            case 13: if name == "Cache-Control" { hasCaching = true }
            case 22: if name == "X-Content-Type-Options" { hasType = true }
            case 28: if name == "Cross-Origin-Resource-Policy" { hasPolicy = true }
            default: break
            }
        }
        response.headers.reserveCapacity(response.headers.count + 5)
        if !hasType { response.headers.append(("X-Content-Type-Options", "nosniff")) }
        // An answer with an ETag may be kept by its caller, and is validated before each use.
        if !hasCaching { response.headers.append(("Cache-Control", hasTag ? "private, no-cache" : "no-store")) }
        if !hasPolicy { response.headers.append(("Cross-Origin-Resource-Policy", "same-origin")) }
        if !hasVary { response.headers.append(("Vary", Response.vary)) }
        response.headers.append(("X-Request-Id", request.id))
    }
}
