import ArgumentParser
import EntitySchema
import Upstream

struct LogoutCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out of the upstream and remove the saved tokens.",
        discussion: """
            A running daemon stops syncing at once. The cache stays readable, and changes stay in the queue until the next \
            sign-in.
            """)

    @OptionGroup var options: BriefConfigurationOptions

    func run() async throws {
        let (configuration, schema) = try options.signInSetup()
        let signOut = SignOut(
            configuration.access(to: schema.upstream, over: try LoginCommand.transport(), now: StateFiles.now),
            store: configuration.tokenStore)
        let revocation: SignOut.Revocation?
        do {
            revocation = try await signOut.run()
        } catch {
            throw CommandFailure(.temporaryFailure, error.message)
        }
        var lines = Self.outcome(revocation)
        if let other = Self.otherSource(configuration, schema) {
            lines.append(other)
        } else if revocation != nil {
            if await options.startSync(configuration) { lines.append("the running daemon no longer uses the sign-in") }
            lines.append(
                "the cache stays readable; changes in the queue are sent after the next "
                    + configuration.loginCommand())
        }
        try StandardStream.output.writeResult(lines.joined(separator: "\n") + "\n")
    }

    /// What was done.
    static func outcome(_ revocation: SignOut.Revocation?) -> [String] {
        switch revocation {
        case nil: ["not signed in: there is nothing to remove"]
        case .done: ["signed out; the upstream no longer accepts the token"]
        case .notOffered:
            ["signed out", "the schema has no upstream.auth.logout: the upstream accepts the token until it expires"]
        case .failed(let reason):
            ["signed out, but only on this machine: the upstream accepts the token until it expires", reason]
        }
    }

    /// What the daemon uses instead of a sign-in, and how to stop that; nil if it uses nothing else.
    static func otherSource(_ configuration: Configuration, _ schema: EntitySchema) -> String? {
        if let file = configuration.upstream.tokenFile {
            return "the daemon uses the token in \(file): to stop that, remove upstream.token_file"
        }
        guard let session = schema.upstream.session else { return nil }
        let keys = session.secretNames.map { "upstream.secrets.\($0)" }.joined(separator: ", ")
        return "the daemon signs in again with its stored credentials: to stop that, remove \(keys)"
    }
}
