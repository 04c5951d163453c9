import EntitySchema
import LocalAPI

/// Keeps a feed running: connects again, ever more slowly, while one of its sides is away.
struct FeedRunner {
    let source: FeedSource
    let settings: FeedSettings
    let library: LibPQ
    let now: @Sendable () -> Timestamp
    let say: @Sendable (String) -> Void

    /// So often a feed that stops by itself tries again without success.
    private static let attempts = 5

    /// Returns when the task is cancelled, or with `once` when everything is fed.
    func run() async throws {
        var failures = 0
        var said: String?
        var warning: String?
        while !Task.isCancelled {
            do {
                let connection = try PostgresConnection(
                    settings.target, application: "repairminder-sync feed \(settings.instance)", library)
                if let weakness = connection.weakness, weakness != warning { say(weakness) }
                warning = connection.weakness
                try await feed(connection) {
                    if said != nil { say("connected again") }
                    (failures, said) = (0, nil)
                }
                return
            } catch {
                if Task.isCancelled { return }
                guard let reason = Self.passing(error) else { throw Self.failure(error) }
                failures += 1
                guard !settings.once || failures < Self.attempts else { throw Self.failure(error) }
                if said != reason { say("\(reason); trying again") }
                said = reason
                try? await Task.sleep(for: Self.pause(after: failures, Double.random(in: 0..<1)))
            }
        }
    }

    private func feed(_ connection: PostgresConnection, progressed: () -> Void) async throws {
        let target = FeedTarget(connection: connection, settings: settings)
        try await Feed(source: source, target: target, now: now, say: say).run(progressed: progressed)
    }

    /// From 0.2 s, twice as long each time up to 30 s, less up to half of it: `share`, from 0 to 1, says how much.
    static func pause(after failures: Int, _ share: Double) -> Duration {
        let longest = Duration.milliseconds(100).doubled(failures, atMost: .seconds(30))
        return longest * (1 - share / 2)
    }

    /// Why it may be better later; nil if it will not.
    static func passing(_ error: any Error) -> String? {
        switch error {
        case let error as PostgresError: error.kind == .lasting ? nil : "PostgreSQL: \(error.message)"
        case let error as LocalAPIError where error.isTemporary: CommandFailure(error).brief
        case LocalAPIError.problem(let problem) where problem.status == 429: TerminalText.line(problem.message)
        default: nil
        }
    }

    static func failure(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError else { return error }
        let status = error.kind == .lasting ? CommandStatus.badConfiguration : .temporaryFailure
        return CommandFailure(status, "PostgreSQL: \(error.message)")
    }
}
