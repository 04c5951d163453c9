internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Answers the calls of a sign-in, which need no token.
struct SignInHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    /// Nil when the request is not one of these calls.
    func answer(_ matches: [Routes.Match], _ signIn: inout SignIn?) throws(Refusal) -> Answer? {
        switch matches[0].target {
        case .login, .refresh, .session: break
        default: return nil
        }
        guard var desk = signIn else { throw .notFound("such path: this upstream has no users") }
        // Kept even when refused: a wrong code uses up a try.
        defer { signIn = desk }
        switch matches[0].target {
        case .session(let call): return reply(try desk.open(call, request, at: now))
        case .refresh:
            // The first exchange is of a stored credential.
            for match in matches {
                guard case .session(let call) = match.target else { continue }
                if let parts = try? desk.open(call, request, at: now) { return reply(parts) }
            }
            let plan = handler.schema.upstream
            let body = plan.refresh?.send == nil ? .object([:]) : try refreshBody(plan.refresh?.call)
            let parts = try desk.renew(body, plan.tokenPlace.token(in: request), at: now)
            return reply(parts + (plan.check?.path == plan.refresh?.path ? handler.accountAtCheck : []))
        default: break
        }
        let body = try body()
        // Two methods may share a path; the body shows which one is meant.
        let ways = matches.compactMap { match in
            if case .login(let way, let step) = match.target { (way: way, step: step) } else { nil }
        }
        let meant = ways.first { call in
            let step = call.way.steps[call.step]
            return (step.questions.map(\.name) + step.send).allSatisfy { body[$0] != nil }
        }
        guard let call = meant ?? ways.first else { return nil }
        return reply(try desk.take(call.step, of: call.way, body, at: now))
    }

    private func reply(_ parts: [(place: Place, value: JSONText)]) -> Answer {
        .json(200, handler.envelope.parts(parts))
    }

    /// The refresh token alone, by its usual name, where the schema has a call for it.
    private func refreshBody(_ call: SignInCall?) throws(Refusal) -> JSONText {
        guard let call else { return try body() }
        let sent = call.isForm ? try URLForm(request.body).members() : try body()
        guard let token = call.refreshToken(in: sent) else { throw .malformed("the body has no refresh token") }
        return .object(members: [(key: SignInCall.refreshTokenName, value: .string(token))])
    }

    private func body() throws(Refusal) -> JSONText {
        guard let body = try? JSONText(request.body), body.kind == .object else {
            throw .malformed("the body is not JSON; send one JSON object")
        }
        return body
    }
}
