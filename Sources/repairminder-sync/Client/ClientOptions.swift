import ArgumentParser
import JSONText
import LocalAPI

/// What the commands that talk to the daemon have in common.
struct ClientOptions: ParsableArguments {
    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    @Flag(help: "Print the daemon's JSON as it came, numbers to the letter.")
    var json = false

    func client(deadline: Duration = .seconds(60)) throws -> LocalAPIClient {
        try connection.connection(environment: .ofThisProcess()).client(deadline: deadline)
    }

    /// Prints the answer's body with `--json`, else what `text` makes of it.
    func show(_ body: JSONText?, _ text: (JSONText) -> String) throws(CommandFailure) {
        guard let body else {
            throw CommandFailure(.internalError, "the daemon answered nothing; is it of this version?")
        }
        StandardStream.output.write(json ? body.text + "\n" : text(body))
    }

    /// Aligned columns; cut to the terminal, whole where the output goes elsewhere.
    static func rendered(_ table: Table) -> String {
        table.rendered(width: StandardStream.output.width)
    }
}
