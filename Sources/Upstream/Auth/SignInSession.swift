package import EntitySchema
internal import JSONText

/// Runs one of the sign-in methods that the schema's `auth.login` describes.
package struct SignInSession: Sendable {
    private let refresh: UpstreamPlan.Refresh
    private let caller: HTTPCaller
    private let now: @Sendable () -> Timestamp

    /// `baseURL` replaces the schema's; `deadline` is for each call as a whole.
    package init(
        plan: UpstreamPlan, refresh: UpstreamPlan.Refresh, baseURL: String? = nil, transport: any HTTPTransport,
        deadline: Duration = .seconds(30), now: @escaping @Sendable () -> Timestamp
    ) {
        self.refresh = refresh
        self.now = now
        caller = HTTPCaller(
            baseURL: baseURL ?? plan.baseURL, transport: transport, deadline: deadline, maximumBody: 1 << 20,
            answers: plan.answers, headers: plan.headers, tokenPlace: plan.tokenPlace, clock: nil, now: now)
    }

    /// Runs the steps until a response contains a token.
    ///
    /// `ask` is called for each question right before the request that sends its answer. Throws `UpstreamError` for a
    /// failed request, and rethrows errors of `ask`.
    package func run(
        _ way: LoginWay, ask: (LoginStep.Question) async throws -> String
    ) async throws -> Tokens {
        var known: [String: JSONText] = [:]
        for step in way.steps {
            for question in step.questions { known[question.name] = .string(try await ask(question)) }
            let answer = try await call(step, known)
            if let tokens = TokenAnswer(refresh).tokens(in: answer, at: now()) { return tokens }
            for keepsake in step.keep {
                guard let value = keepsake.place.value(in: answer) else {
                    throw UpstreamError.malformed(
                        "POST \(step.path) answered no \(keepsake.place.description); correct upstream.auth.login")
                }
                known[keepsake.name] = value
            }
        }
        throw UpstreamError.malformed(
            "the sign-in succeeded but returned no token at \(refresh.token.description); correct "
                + "upstream.auth.refresh in the schema")
    }

    private func call(_ step: LoginStep, _ known: [String: JSONText]) async throws(UpstreamError) -> JSONText {
        let request = refresh.request(for: step, with: known)
        let response = try await caller.send(request)
        if let failure = caller.failure(response, to: request) { throw failure }
        return response.body.isEmpty ? .object([:]) : try caller.json(response, step.path)
    }
}
