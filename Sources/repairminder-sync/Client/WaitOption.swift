import ArgumentParser
import JSONText
import LocalAPI

/// `--wait [SECONDS]`: wait until the upstream has a write, as `wait=pushed` of the local API.
struct WaitOption: ParsableArguments {
    /// The longest wait, in seconds.
    private static let longest = 60
    static let expected = "--wait takes 1 to \(longest) seconds"

    @Option(
        defaultAsFlag: 10,
        help: ArgumentHelp(
            "Wait until the upstream has the change, for so many seconds; fail if it does not get it.",
            valueName: "seconds")
    )
    var wait: Int?

    func validate() throws {
        if let wait, !(1...Self.longest).contains(wait) { throw ValidationError(Self.expected) }
    }

    var query: LocalAPIClient.Query { wait.map { [("wait", "pushed"), ("timeout", "\($0)")] } ?? [] }

    /// How long the call may take.
    var deadline: Duration { .seconds(60 + (wait ?? 0)) }

    /// Throws if the upstream does not have the write: the change stays here, so the message says where to look, with the
    /// flags of `connection` that lead to the same daemon.
    static func requireConfirmed(
        _ answer: LocalAPIClient.Answer, _ connection: ConnectionOptions
    ) throws(CommandFailure) {
        guard answer.status == 202, let push = answer.body?["_sync"]?["push"], let state = push["state"]?.string else {
            return
        }
        let changes = (push["changes"]?.elements ?? []).map(\.plain).joined(separator: ", ")
        let isOver = state == "failed" || state == "discarded"
        let reason = answer.body?["_sync"]?["error"]?["message"]?.string.map { " (\($0))" } ?? ""
        throw CommandFailure(
            isOver ? .badData : .temporaryFailure,
            "saved here, but the upstream does not have it: change \(changes) is \(state)\(reason); "
                + "see repairminder-sync queue \(changes)\(connection.flags)")
    }
}
