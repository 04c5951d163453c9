import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import Logging

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the daemon in the foreground until it is told to stop.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        // A log that nobody reads any more must not end the daemon.
        signal(SIGPIPE, SIG_IGN)
        let surroundings = Surroundings.ofThisProcess()
        let configuration = try options.configuration(surroundings: surroundings)
        let schema = try SchemaFinder(surroundings: surroundings).schema(for: configuration)
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
        let style = LineLogHandler.Style(
            format: configuration.log.format,
            isJournal: StandardStream.error.isJournal(environment: surroundings.environment))
        let daemon = Daemon(configuration: configuration, schema: schema, now: now) { label in
            Logger(label: label) { label in
                LineLogHandler(
                    label: label, level: configuration.log.level, style: style, now: now,
                    write: StandardStream.error.write)
            }
        }
        try await daemon.run()
    }
}
