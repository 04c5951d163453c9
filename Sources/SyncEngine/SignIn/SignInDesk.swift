package import EntitySchema
package import Upstream

/// Signs in to the upstream for a person at the page, one call after another.
///
/// One sign-in at a time, in memory only. What a person answers is sent to the upstream and kept nowhere else; the tokens
/// are in their file before the sign-in counts.
package actor SignInDesk {
    package enum Outcome: Sendable, Equatable {
        /// Answers to these are needed next.
        case questions([LoginStep.Question], id: String)
        case signedIn
    }

    private struct SignIn {
        var id: String
        var progress: SignInSession.Progress
        var until: Timestamp
        var isBusy = false
    }

    private let ways: [LoginWay]
    private let session: SignInSession
    private let store: TokenStore
    private let now: @Sendable () -> Timestamp
    private let makeID: @Sendable () -> String
    private var current: SignIn?
    /// When the last refused attempts were.
    private var refusals: [Timestamp] = []

    /// How long the next answer may take: a code has to arrive by mail.
    package static let patience = Duration.seconds(600)
    /// Refused attempts in `pause` before more have to wait, so that no account is locked from here.
    package static let mostRefusals = 5
    package static let pause = Duration.seconds(600)

    package init(
        ways: [LoginWay], session: SignInSession, store: TokenStore, now: @escaping @Sendable () -> Timestamp,
        makeID: @escaping @Sendable () -> String
    ) {
        self.ways = ways
        self.session = session
        self.store = store
        self.now = now
        self.makeID = makeID
    }

    /// The names of the ways to sign in.
    package nonisolated var names: [String] { ways.map(\.name) }

    /// Begins a sign-in, in the place of one that is not finished.
    package func begin(_ name: String) throws(SignInError) -> Outcome {
        guard let way = ways.first(where: { $0.name == name }) else {
            throw .unknown(
                "no way to sign in is called \(name.prefix(50)); expected \(names.joined(separator: " or "))")
        }
        try requirePatience()
        let fresh = SignIn(id: makeID(), progress: SignInSession.Progress(way), until: now() + Self.patience)
        current = fresh
        return .questions(fresh.progress.questions, id: fresh.id)
    }

    /// Sends the answers, by the names of the questions. After a refusal they can be given again.
    package func answer(_ answers: [String: String], id: String) async throws(SignInError) -> Outcome {
        guard var signIn = current, signIn.id == id, signIn.until > now() else {
            throw .unknown("this sign-in is over; begin again")
        }
        guard !signIn.isBusy else { throw .busy }
        let names = signIn.progress.questions.map(\.name)
        let strays = answers.keys.filter { !names.contains($0) }.sorted()
        guard strays.isEmpty else { throw .unasked(strays) }
        let missing = names.filter { (answers[$0] ?? "").isEmpty }
        guard missing.isEmpty else { throw .unanswered(missing) }
        try requirePatience()
        current?.isBusy = true
        let result: Result<Tokens?, UpstreamError>
        do throws(UpstreamError) {
            result = .success(try await session.next(&signIn.progress, answers))
        } catch {
            result = .failure(error)
        }
        signIn.until = now() + Self.patience
        // Another may have begun meanwhile.
        let isCurrent = current?.id == id
        if isCurrent { current = signIn }
        switch result {
        case .failure(let error): throw noted(SignInError(error))
        case .success(nil): return .questions(signIn.progress.questions, id: id)
        case .success(let tokens?):
            if isCurrent { current = nil }
            try save(tokens)
            return .signedIn
        }
    }

    private func save(_ tokens: Tokens) throws(SignInError) {
        do {
            try store.save(tokens)
        } catch {
            throw .unavailable(error.message)
        }
    }

    // MARK: Refusals

    private func requirePatience() throws(SignInError) {
        let now = now()
        refusals.removeAll { now.since($0) >= Self.pause || $0 > now }
        guard refusals.count >= Self.mostRefusals, let first = refusals.first else { return }
        throw .tooMany(Self.pause - now.since(first))
    }

    private func noted(_ error: SignInError) -> SignInError {
        if case .refused = error { refusals.append(now()) }
        return error
    }
}

/// Why a sign-in went no further, by what a person can do about it.
package enum SignInError: Error, Sendable, Equatable {
    /// There is no such sign-in, or no such way.
    case unknown(String)
    /// These questions have no answer.
    case unanswered([String])
    /// These answers are to no question.
    case unasked([String])
    /// Another answer of this sign-in is being sent.
    case busy
    /// Too many were refused; until more may be sent.
    case tooMany(Duration)
    /// The upstream did not accept the answers.
    case refused(String)
    /// Try again later.
    case unavailable(String)
    /// The configuration or the schema is wrong.
    case misconfigured(String)

    fileprivate init(_ error: UpstreamError) {
        switch SignInFailure(error) {
        case .refused(let message): self = .refused(message)
        case .unavailable(let message): self = .unavailable(message)
        case .misconfigured(let message): self = .misconfigured(message)
        }
    }
}
