package import EntitySchema
internal import JSONText

/// Takes a person through one way to sign in, as the schema's `auth.login` describes it.
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
            errorMessage: plan.errorMessage, clock: nil, now: now)
    }

    /// Asks and calls, step by step, until an answer holds a token.
    ///
    /// `ask` is called for each question right before the call that sends its answer. Throws `UpstreamError` for a call
    /// that failed, and whatever `ask` throws.
    package func run(
        _ way: LoginWay, ask: (LoginStep.Question) async throws -> String
    ) async throws -> Tokens {
        var known: [String: JSONText] = [:]
        for step in way.steps {
            for question in step.questions { known[question.name] = .string(try await ask(question)) }
            let answer = try await call(step, known)
            if let tokens = Tokens(answer: answer, as: refresh, at: now()) { return tokens }
            for keepsake in step.keep {
                guard let value = keepsake.place.value(in: answer) else {
                    throw UpstreamError.malformed(
                        "POST \(step.path) answered no \(keepsake.place.description); correct upstream.auth.login")
                }
                known[keepsake.name] = value
            }
        }
        throw UpstreamError.malformed(
            "the sign-in went through and answered no token at \(refresh.token.description); correct "
                + "upstream.auth.refresh in the schema")
    }

    private func call(_ step: LoginStep, _ known: [String: JSONText]) async throws(UpstreamError) -> JSONText {
        let names = step.send + step.questions.map(\.name)
        let body = JSONText.object(members: names.compactMap { name in known[name].map { (key: name, value: $0) } })
        // A code is as secret as a password, whether or not the terminal shows it.
        let secrets = known.values.map(\.plain)
        let response = try await caller.send(
            "POST", step.path,
            headers: [HTTPHeader("Accept", "application/json"), HTTPHeader("Content-Type", "application/json")],
            body: body, secrets: secrets)
        let quoting = Quoting(secrets: secrets, fields: refresh.tokenFields)
        if let failure = caller.failure(response, "POST", step.path, quoting: quoting) { throw failure }
        return response.body.isEmpty ? .object([:]) : try caller.json(response, step.path)
    }
}

extension UpstreamPlan.Refresh {
    /// The names of the members that hold tokens.
    var tokenFields: Set<String> {
        let paths = token.paths + (refreshToken?.paths ?? []) + [send]
        return Set(paths.compactMap { $0.split(separator: ".").last.map(String.init) })
    }
}
