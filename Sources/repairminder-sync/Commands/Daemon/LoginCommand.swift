import ArgumentParser
import EntitySchema
import Upstream

struct LoginCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to the upstream and save the tokens for the daemon.",
        discussion: """
            Prompts at the terminal; without one, each line of standard input is an answer. The tokens are saved in \
            state_dir. A running daemon uses them immediately and refreshes them before they expire.
            """)

    @Option(help: ArgumentHelp("One of the schema's sign-in methods; by default the first.", valueName: "name"))
    var way: String?

    @OptionGroup var options: BriefConfigurationOptions

    func run() async throws {
        let (configuration, schema) = try options.signInSetup()
        try configuration.requireEncryption(for: schema)
        let (way, refresh) = try chosen(schema)
        guard configuration.upstream.baseURL ?? schema.upstream.baseURL != nil else {
            throw CommandFailure(
                .badConfiguration, "the upstream's address is not set; set upstream.base_url in the configuration")
        }
        // Before the first question: no sign-in without a place to save the tokens.
        try StateDirectory.make(configuration.stateDirectory)
        var access = configuration.access(to: schema.upstream, over: try Self.transport(), now: StateFiles.now)
        let questions = Questions()
        do {
            let tokens = try await SignInSession(access, refresh: refresh).run(way) {
                try questions.answer(to: $0.text, secret: $0.secret)
            }
            let store = configuration.tokenStore
            try store.save(tokens)
            // Only what was just saved is tried.
            access.plan.session = nil
            let upstream = HTTPUpstream(access, token: RotatingToken(access, store: store))
            try await report(try await upstream.account(), configuration)
        } catch let error as UpstreamError {
            throw CommandFailure(signIn: error)
        } catch let error as TokenFileError {
            throw CommandFailure(.temporaryFailure, error.message)
        }
    }

    private func chosen(_ schema: EntitySchema) throws(CommandFailure) -> (LoginWay, UpstreamPlan.Refresh) {
        let ways = schema.upstream.login
        guard let first = ways.first, let refresh = schema.upstream.refresh else {
            if let session = schema.upstream.session {
                let keys = session.secretNames.map { "upstream.secrets.\($0)" }.joined(separator: ", ")
                throw CommandFailure(
                    .badConfiguration,
                    "the daemon signs in by itself with the schema \(schema.name); name the files of the credentials in "
                        + keys)
            }
            throw CommandFailure(
                .badConfiguration,
                "the schema \(schema.name) defines no sign-in (upstream.auth.login); put a token into a file and set "
                    + "upstream.token_file to its path")
        }
        guard let way else { return (first, refresh) }
        guard let found = ways.first(where: { $0.name == way }) else {
            throw CommandFailure(
                .usage, "no way to sign in is called \(way); expected \(ways.map(\.name).joined(separator: " or "))")
        }
        return (found, refresh)
    }

    /// Notifies a running daemon and prints the next step.
    private func report(_ account: SignedInAccount?, _ configuration: Configuration) async throws {
        var lines = [Self.text(of: account)]
        if let file = configuration.upstream.tokenFile {
            lines.append(
                "but upstream.token_file is set to \(file) and takes precedence: remove that key to use this sign-in")
        } else if await options.startSync(configuration) {
            lines.append("the running daemon uses this sign-in now")
        } else {
            lines.append("start the daemon with: \(configuration.startCommand())")
        }
        try StandardStream.output.writeResult(lines.joined(separator: "\n") + "\n")
    }

    /// One line, whatever the upstream calls the account.
    static func text(of account: SignedInAccount?) -> String {
        account.map { TerminalText.line("signed in as \($0.shown)") } ?? "signed in"
    }

    static func transport() throws(CommandFailure) -> CurlTransport {
        do {
            return try CurlTransport(userAgent: ProgramVersion.userAgent)
        } catch {
            throw CommandFailure(.internalError, "cannot create an HTTP client: \(error)")
        }
    }
}

extension CommandFailure {
    /// Why a sign-in failed, with the upstream's own message if there is one.
    fileprivate init(signIn error: UpstreamError) {
        switch SignInFailure(error) {
        case .refused(let message): self.init(.notAllowed, message)
        case .unavailable(let message): self.init(.temporaryFailure, message)
        case .misconfigured(let message): self.init(.badConfiguration, message)
        }
    }
}
