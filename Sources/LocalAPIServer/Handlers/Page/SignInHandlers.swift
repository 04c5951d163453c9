internal import EntitySchema
internal import JSONText
internal import Logging
internal import SocketServer
internal import SyncEngine

/// `/v1/_sign-in`: signs in to the upstream as `repairminder-sync login` does, one question after another.
extension Handlers {
    func signInWays() -> Response {
        let isNeeded = engine.status().needsSignIn
        let document = JSONText.object([
            "needed": .boolean(isNeeded && parts.signIns != nil),
            "ways": .array((parts.signIns?.names ?? []).map { .string($0) }),
        ])
        return .document(document)
    }

    /// Body: `{"way": "password"}` begins, `{"id": "…", "answers": {"email": "…"}}` goes on.
    func signIn(_ request: Request) async throws -> Response {
        var mistakes = mistakes
        let body = try mistakes.object(request)
        let step: SignInStep? = mistakes.collect(nil, try SignInStep(body))
        guard let step, mistakes.isEmpty else { throw mistakes.problem }
        guard let signIns = parts.signIns else {
            throw Problem(
                .notFound, "the daemon signs in by itself or has a fixed token; see upstream.auth in the schema")
        }
        do {
            let outcome =
                switch step {
                case .begin(let way): try await signIns.begin(way)
                case .answer(let answers, let id): try await signIns.answer(answers, id: id)
                }
            if outcome == .signedIn {
                log.notice("signed in to the upstream", metadata: ["request_id": "\(request.id)"])
                await engine.requestSync(SyncRequest())
            }
            return .document(Self.document(outcome))
        } catch {
            throw Problem(error)
        }
    }

    private static func document(_ outcome: SignInDesk.Outcome) -> JSONText {
        switch outcome {
        case .signedIn: .object(["signed_in": true, "id": .null, "questions": .array([])])
        case .questions(let questions, let id):
            .object([
                "signed_in": false, "id": .string(id),
                "questions": .array(
                    questions.map { question in
                        .object([
                            "name": .string(question.name), "text": .string(question.text),
                            "secret": .boolean(question.secret),
                        ])
                    }),
            ])
        }
    }
}

/// What a caller of `POST /v1/_sign-in` wants.
private enum SignInStep {
    case begin(way: String)
    case answer([String: String], id: String)

    init(_ body: JSONText) throws(Problem) {
        if let way = body["way"]?.string, body.members.count == 1 {
            self = .begin(way: way)
            return
        }
        let given = body["answers"]?.members ?? []
        let answers = given.compactMap { name, value in value.string.map { (name, $0) } }
        guard let id = body["id"]?.string, body["answers"]?.kind == .object, body.members.count == 2,
            answers.count == given.count
        else {
            throw .body("", "expected {\"way\": \"…\"}, or {\"id\": \"…\", \"answers\": {…}} with texts")
        }
        self = .answer(Dictionary(answers) { $1 }, id: id)
    }
}

extension Problem {
    fileprivate init(_ error: SignInError) {
        switch error {
        case .unknown(let detail): self.init(.notFound, detail)
        case .unanswered(let names):
            self = .body("answers", "expected an answer to \(names.joined(separator: ", "))")
        case .unasked(let names):
            let shown = names.map { $0.prefix(50) }.joined(separator: ", ")
            self = .body("answers", "there is no question \(shown); send only answers to what was asked")
        case .busy: self.init(.conflict, "an answer of this sign-in is being sent; wait for it")
        case .tooMany(let wait):
            let seconds = wait.components.seconds + 1
            self.init(
                .tooManyRequests, "the upstream has refused too many sign-ins; wait \(seconds) s",
                headers: [("Retry-After", String(seconds))])
        case .refused(let detail): self.init(.signInRefused, detail)
        case .unavailable(let detail): self = .unavailable(detail, .upstreamUnreachable)
        case .misconfigured(let detail): self.init(.upstreamFailed, detail)
        }
    }
}
