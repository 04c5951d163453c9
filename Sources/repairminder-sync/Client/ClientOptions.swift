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

    /// Prints the response body with `--json`, otherwise the text that `text` renders from it.
    func show(_ body: JSONText?, _ text: (JSONText) -> String) throws(CommandFailure) {
        guard let body else {
            throw CommandFailure(.internalError, "the daemon returned an empty response; is it the same version?")
        }
        StandardStream.output.write(json ? body.text + "\n" : text(body))
    }

    /// Aligned columns, cut to fit a terminal and uncut otherwise.
    static func rendered(_ table: Table) -> String {
        table.rendered(width: StandardStream.output.width)
    }
}
