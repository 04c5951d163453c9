import ArgumentParser
import JSONText
import LocalAPI

/// The options shared by the commands that talk to the daemon.
struct ClientOptions: ParsableArguments {
    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    @Flag(help: "Print the daemon's JSON unchanged.")
    var json = false

    func client(deadline: Duration = .seconds(60)) throws -> LocalAPIClient {
        try connection.client(deadline: deadline)
    }

    /// Prints the response body with `--json`, otherwise the text that `text` makes of it.
    func show(_ body: JSONText?, _ text: (JSONText) throws -> StyledText) throws {
        guard let body else {
            throw CommandFailure(.internalError, "the daemon returned an empty response; is it the same version?")
        }
        if json {
            try StandardStream.output.writeResult(body.text + "\n")
        } else {
            try StandardStream.output.writeResult(try text(body), Self.presentation())
        }
    }

    static func presentation(isWide: Bool = false) -> Presentation {
        .standard(environment: Environment.ofThisProcess().variables, now: StateFiles.now(), isWide: isWide)
    }
}

extension StandardStream {
    /// Text for people with its colours, or for programs without.
    func write(_ text: StyledText, _ presentation: Presentation) {
        if presentation.hasColours { draw(text.painted) } else { write(text.plain) }
    }

    /// The same for a command's result, which must not get lost, as on a full disk. The failure does not ask to try again,
    /// because the command has done its work.
    func writeResult(_ text: StyledText, _ presentation: Presentation) throws(CommandFailure) {
        if presentation.hasColours { draw(text.painted) } else { try writeResult(text.plain) }
    }

    func writeResult(_ text: String) throws(CommandFailure) { try Self.require(writeAll(text)) }

    /// For a file or a pipe alone.
    func writeResult(_ bytes: [UInt8]) throws(CommandFailure) { try Self.require(writeAll(bytes)) }

    private static func require(_ problem: String?) throws(CommandFailure) {
        guard let problem else { return }
        throw CommandFailure(.outputLost, "the output could not be written: \(problem)")
    }
}
