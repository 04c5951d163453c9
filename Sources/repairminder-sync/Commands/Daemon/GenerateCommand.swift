import ArgumentParser
import ClientGenerator
import EntitySchema
import Foundation

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Write types for a program in Swift or Python, from a schema.",
        subcommands: [GenerateSwiftCommand.self, GeneratePythonCommand.self])
}

struct GenerateSwiftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract: "Write Swift types for the library RepairminderClient.",
        discussion: """
            A type for each entity, with its fields, what can be written, and typed queries. The same schema always gives \
            the same text.
            """)

    @OptionGroup var options: GenerateOptions

    func run() throws { try options.write(.swift) }
}

struct GeneratePythonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "python",
        abstract: "Write a Python module: a client of the API with types.",
        discussion: """
            The module needs Python 3.9 or later and nothing but its standard library, and passes mypy --strict. The same \
            schema always gives the same text.
            """)

    @OptionGroup var options: GenerateOptions

    func run() throws { try options.write(.python) }
}

/// Which schema code is generated from, and where it goes.
struct GenerateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file (YAML or JSON).", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp("A schema's name or path; without it, that of the configuration.", valueName: "name|file"))
    var schema: String?

    @OptionGroup var settings: SettingOption

    @Option(help: ArgumentHelp("The file to write; without it standard output.", valueName: "file"))
    var output: String?

    func write(_ language: GeneratedClient.Language, environment: Environment = .ofThisProcess()) throws {
        let code = try text(in: language, environment: environment)
        guard let output else { return try StandardStream.output.writeResult(code) }
        do {
            try WholeFile.write(code, to: output)
        } catch {
            throw CommandFailure.unwritable(output, error)
        }
    }

    func text(in language: GeneratedClient.Language, environment: Environment) throws -> String {
        let flags = schema.map { [ConfigurationKey.schema: $0] } ?? [:]
        let configuration = try ConfigurationReader(
            path: config, flags: flags, maps: [.settings: settings.values], environment: environment
        ).configuration()
        let finder = SchemaFinder(environment: environment)
        let source = try finder.source(for: configuration)
        let schema = try finder.schema(from: source, for: configuration)
        return GeneratedClient(schema, hash: source.sha256).text(in: language)
    }
}
