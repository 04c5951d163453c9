import ArgumentParser
import CacheStore
internal import SQLiteStore

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the database of this configuration into a file and check the copy.",
        discussion: """
            Works while the daemon runs and while it does not; run it as the daemon's user or as root. The file must not \
            be there yet. It has no key of secrets: keep secret.key elsewhere.
            """)

    @Argument(help: "The file to make.")
    var file: String

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let target = Environment.ofThisProcess().absolute(file)
        try DatabaseCopy.make(of: StateFiles(options).database(), at: target)
        StandardStream.output.write("backed up to \(target)\n")
    }
}
