import ArgumentParser
import EntitySchema

struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration, schema, token and key file as run would read them.",
        discussion: "Takes the same flags as run. Prints ok, or what is wrong and where, with exit status 78.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let setup = try options.setupReader(environment: .ofThisProcess()).setup()
        for warning in setup.configuration.warnings { StandardStream.error.write("warning: \(warning)\n") }
        let lines = [
            "ok", "configuration  \(setup.configuration.file ?? "none, all defaults")",
            "schema         \(setup.schemaFile) (\(setup.schema.entities.count.counted("entity", "entities")))",
            "state_dir      \(setup.configuration.stateDirectory)",
        ]
        StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }
}
