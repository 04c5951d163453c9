package import EntitySchema
internal import JSONText

/// Runs one of the sign-in methods that the schema's `auth.login` describes.
package struct SignInSession: Sendable {
    private let refresh: UpstreamPlan.Refresh
    private let caller: HTTPCaller

    /// `refresh` says where answers have tokens; `deadline` limits each whole call.
    package init(_ access: UpstreamAccess, refresh: UpstreamPlan.Refresh, deadline: Duration = .seconds(30)) {
        self.refresh = refresh
        caller = HTTPCaller(access, deadline: deadline)
    }

    /// How far a sign-in has come.
    package struct Progress: Sendable {
        fileprivate var steps: ArraySlice<LoginStep>
        /// All answers so far, and the values kept from responses.
        fileprivate var known: [String: JSONText] = [:]

        package init(_ way: LoginWay) { steps = way.steps[...] }

        /// The questions that the next request answers.
        package var questions: [LoginStep.Question] { steps.first?.questions ?? [] }
    }

    /// Runs the steps until a response contains a token.
    ///
    /// `ask` is called for each question right before the request that sends its answer. Throws `UpstreamError` for a
    /// failed request, and rethrows errors of `ask`.
    package func run(
        _ way: LoginWay, ask: (LoginStep.Question) async throws -> String
    ) async throws -> Tokens {
        var progress = Progress(way)
        while true {
            var answers: [String: String] = [:]
            for question in progress.questions { answers[question.name] = try await ask(question) }
            if let tokens = try await next(&progress, answers) { return tokens }
        }
    }

    /// Sends the answers to the questions of `progress`, and the steps after it that ask nothing. Nil if there are more
    /// questions. After an error, `progress` is where it can go on.
    package func next(
        _ progress: inout Progress, _ answers: [String: String]
    ) async throws(UpstreamError) -> Tokens? {
        for name in progress.questions.map(\.name) { progress.known[name] = answers[name].map { .string($0) } }
        while let step = progress.steps.first {
            let answer = try await call(step, progress.known)
            if let tokens = TokenAnswer(refresh, caller.clock).tokens(in: answer, at: caller.now()) { return tokens }
            for keepsake in step.keep {
                guard let value = keepsake.place.value(in: answer) else {
                    throw .malformed(
                        "POST \(step.path) answered no \(keepsake.place.description); correct upstream.auth.login")
                }
                progress.known[keepsake.name] = value
            }
            progress.steps.removeFirst()
            if !progress.questions.isEmpty { return nil }
        }
        throw .malformed(
            "the sign-in succeeded but returned no token at \(refresh.token.description); correct "
                + "upstream.auth.refresh in the schema")
    }

    private func call(_ step: LoginStep, _ known: [String: JSONText]) async throws(UpstreamError) -> JSONText {
        let request = refresh.request(for: step, with: known)
        let response = try await caller.send(request)
        if let failure = caller.failure(response, to: request) { throw failure }
        guard !response.body.isEmpty else { return .object([:]) }
        do throws(UpstreamError) {
            return try caller.json(response, step.path)
        } catch {
            throw error.withoutSecrets(request.secrets)
        }
    }
}
