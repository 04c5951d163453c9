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
        try connection.connection(environment: .ofThisProcess()).client(deadline: deadline)
    }

    /// Prints the response body with `--json`, otherwise the text that `text` makes of it.
    func show(_ body: JSONText?, _ text: (JSONText) throws -> StyledText) throws {
        guard let body else {
            throw CommandFailure(.internalError, "the daemon returned an empty response; is it the same version?")
        }
        if json {
            StandardStream.output.write(body.text + "\n")
        } else {
            StandardStream.output.write(try text(body), Self.presentation())
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
}
