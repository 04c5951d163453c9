import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import JSONText
import LocalAPI
import Upstream

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to the upstream, as its schema describes it, and keep the tokens for the daemon.",
        discussion: """
            Asks at the terminal; without one, each line of standard input is an answer. The tokens are kept in \
            state_dir. A running daemon uses them at once, and exchanges them by itself before they end.
            """)

    @Option(help: ArgumentHelp("One of the schema's ways to sign in; its first unless given.", valueName: "name"))
    var way: String?

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let environment = Environment.ofThisProcess()
        let configuration = try options.configuration(environment: environment)
        let schema = try SchemaFinder(environment: environment).schema(for: configuration)
        let (way, refresh) = try chosen(schema)
        let baseURL = configuration.upstream.baseURL
        guard baseURL ?? schema.upstream.baseURL != nil else {
            throw CommandFailure(
                .badConfiguration, "nobody has said where the upstream is; set upstream.base_url in the configuration")
        }
        // Before anything is asked: what cannot be kept need not be got.
        try StateDirectory.make(configuration.stateDirectory)
        let owner = try StateOwner(folder: configuration.stateDirectory)
        let transport = try Self.transport()
        let questions = Questions()
        do {
            let tokens = try await SignInSession(
                plan: schema.upstream, refresh: refresh, baseURL: baseURL, transport: transport, now: Self.now
            ).run(way) { try questions.answer(to: $0.text, secret: $0.secret) }
            let store = TokenStore(path: configuration.signInFile)
            try store.save(tokens)
            try owner.own(configuration.signInFile)
            let account = try await HTTPUpstream(
                plan: schema.upstream, baseURL: baseURL, transport: transport,
                token: RotatingToken(
                    plan: schema.upstream, refresh: refresh, baseURL: baseURL, transport: transport, store: store,
                    now: Self.now),
                now: Self.now
            ).account()
            await report(account, configuration, environment)
        } catch let error as UpstreamError {
            throw CommandFailure(signIn: error)
        } catch let error as TokenFileError {
            throw CommandFailure(.temporaryFailure, error.message)
        }
    }

    private func chosen(_ schema: EntitySchema) throws(CommandFailure) -> (LoginWay, UpstreamPlan.Refresh) {
        let ways = schema.upstream.login
        guard let first = ways.first, let refresh = schema.upstream.refresh else {
            throw CommandFailure(
                .badConfiguration,
                "the schema \(schema.name) describes no sign-in (upstream.auth.login); put a token into the file that "
                    + "upstream.token_file names")
        }
        guard let way else { return (first, refresh) }
        guard let found = ways.first(where: { $0.name == way }) else {
            throw CommandFailure(
                .usage, "there is no way \(way) to sign in; expected \(ways.map(\.name).joined(separator: " or "))")
        }
        return (found, refresh)
    }

    /// Tells the daemon, if there is one, and the person what comes next.
    private func report(_ account: String?, _ configuration: Configuration, _ environment: Environment) async {
        var lines = [account.map { "signed in; the records are those of \($0)" } ?? "signed in"]
        if let file = configuration.upstream.tokenFile {
            lines.append("but upstream.token_file names \(file), which goes first: remove that key to use this sign-in")
        } else if await isDaemonTold(configuration) {
            lines.append("the daemon goes on with it")
        } else {
            lines.append("start the daemon with: repairminder-sync run")
        }
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }

    /// Starts a sync, so that a daemon that waits for a sign-in need not wait for its next turn.
    private func isDaemonTold(_ configuration: Configuration) async -> Bool {
        do {
            let client = try ConnectionOptions.usual(
                configuration, systemSocket: options.config == nil ? ConnectionOptions.systemSocket : nil
            ).client(deadline: .seconds(5))
            _ = try await client.post(LocalAPIPaths.sync, body: .object([:]))
            return true
        } catch {
            return false
        }
    }

    private static func transport() throws(CommandFailure) -> CurlTransport {
        do {
            return try CurlTransport(userAgent: "repairminder-sync/\(ProgramVersion.text)")
        } catch {
            throw CommandFailure(.internalError, "no connection can be made: \(error)")
        }
    }

    private static let now: @Sendable () -> Timestamp = {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}

extension CommandFailure {
    /// Why a sign-in did not succeed, in the upstream's words where it has any.
    fileprivate init(signIn error: UpstreamError) {
        switch error {
        case .unauthorized(let message), .refused(_, let message), .changed(_, let message):
            self.init(.notAllowed, "the upstream refuses the sign-in: \(message)")
        case .gone(_, let message), .malformed(let message):
            self.init(.badConfiguration, "\(message); check upstream.base_url and the schema's upstream.auth")
        case .offline(let message), .unclear(_, let message), .throttled(_, let message), .held(let message):
            self.init(.temporaryFailure, "the upstream cannot be reached now: \(message)")
        case .cancelled: self.init(.temporaryFailure, "the sign-in was cut off")
        }
    }
}
