import ArgumentParser
import Glibc
import Pictures

/// Makes one thumbnail and ends: what the daemon starts for each, since a picture may be hostile.
struct ThumbnailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Turns a picture on standard input into a thumbnail.", shouldDisplay: false)

    @Argument(help: "The longest side, in pixels.")
    var side: Int

    func validate() throws {
        guard (1...4096).contains(side) else { throw ValidationError("a side has 1 to 4096 pixels") }
    }

    func run() {
        Glibc.exit(ThumbnailProcess.run(side: side))
    }
}
