import ArgumentParser
import CacheStore
import EntitySchema
import Foundation
import JSONText

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check everything that the daemon needs, and say what to do.",
        discussion: """
            Looks at configuration, schema, files, database and upstream, whether the daemon runs or not, and changes \
            nothing. Run it as the daemon's user or as root. Exit status 1 when a check has found an error.
            """)

    @Flag(help: "Print a JSON array of findings.")
    var json = false

    @OptionGroup(title: "Configuration") var options: ConfigurationOptions

    func run() async throws {
        let findings = await Self.findings(options)
        let text =
            json ? JSONText.array(findings.map(\.json)).text + "\n" : findings.map(\.text).joined()
        StandardStream.output.write(text)
        if findings.contains(where: { $0.level == .error }) { throw ExitCode(1) }
    }

    private static func findings(_ options: ConfigurationOptions) async -> [Finding] {
        let environment = Environment.ofThisProcess()
        let configuration: Configuration
        let schema: EntitySchema
        do {
            configuration = try options.configuration(environment: environment)
        } catch {
            return [.error("config", "\(error)", "mend that line; docs/config.md has every key")]
        }
        let read = configuration.warnings.map { Finding.warning("config", $0, "unset it, or mend its name") }
        let config = read + [.ok("config", configuration.file ?? "none, all defaults")]
        do {
            schema = try SchemaFinder(environment: environment).schema(for: configuration)
        } catch {
            return config + [.error("schema", "\(error)", "mend that line; docs/schema.md has the language")]
        }
        let state = StateChecks(configuration: configuration, schema: schema).findings()
        // Only looked into where it is there: a doctor makes no folders.
        let isThere = FileManager.default.fileExists(atPath: configuration.stateDirectory)
        let path = isThere ? (try? StateFiles(options))?.directory.inUse : nil
        let database = DatabaseChecks(configuration: configuration, path: path, now: StateFiles.now()).findings()
        let upstream = await UpstreamChecks(configuration: configuration, schema: schema, now: StateFiles.now)
            .findings()
        return config + [.ok("schema", "\(schema.name), \(schema.entities.count) entities")] + state + database
            + upstream
    }
}
