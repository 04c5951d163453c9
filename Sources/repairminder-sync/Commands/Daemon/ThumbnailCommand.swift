import ArgumentParser
import Glibc
import Pictures

/// Makes one thumbnail and exits. The daemon runs it in a process of its own because a picture may be hostile.
struct ThumbnailCommand: ParsableCommand {
    static let name = "thumbnail"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Turn a picture on standard input into a thumbnail.", shouldDisplay: false)

    @Argument(help: "The longest side, in pixels.")
    var side: Int

    func validate() throws {
        guard (1...4096).contains(side) else { throw ValidationError("expected a side of 1 to 4096 pixels") }
    }

    func run() { Glibc.exit(ThumbnailProcess.run(side: side)) }
}
