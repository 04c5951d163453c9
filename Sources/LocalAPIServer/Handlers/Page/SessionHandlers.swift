internal import JSONText
internal import SocketServer

/// `/v1/_session`: lets the browser of an unknown caller in.
extension Handlers {
    /// Body: `{"token": "…"}`.
    func beginSession(_ request: Request) throws -> Response {
        var mistakes = mistakes
        let body = try mistakes.object(request)
        mistakes.requireOnly(["token"], in: body)
        let token = mistakes.member(
            "token", of: body, "expected {\"token\": \"…\"} with the content of the daemon's api-token file", \.string)
        guard let token, mistakes.isEmpty else { throw mistakes.problem }
        return Response(status: 204, headers: [("Set-Cookie", try callers.beginSession(token: token, request))])
    }

    func endSession(_ request: Request) throws -> Response {
        Response(status: 204, headers: [("Set-Cookie", try callers.endSession(request))])
    }
}
