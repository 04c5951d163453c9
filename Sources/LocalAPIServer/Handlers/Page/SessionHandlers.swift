internal import JSONText
internal import SocketServer

/// `/v1/_session`: lets the browser of an unknown caller in.
extension Handlers {
    /// Body: `{"token": "…"}`.
    func beginSession(_ request: Request) throws -> Response {
        let body = try object(request)
        guard let token = body["token"]?.string, body.members.count == 1 else {
            throw Problem.body("token", "expected {\"token\": \"…\"} with the content of the daemon's api-token file")
        }
        return Response(status: 204, headers: [("Set-Cookie", try callers.beginSession(token: token, request))])
    }

    func endSession(_ request: Request) throws -> Response {
        Response(status: 204, headers: [("Set-Cookie", try callers.endSession(request))])
    }
}
