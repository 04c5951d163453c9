import ArgumentParser
import EntitySchema

struct CheckConfigCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration, schema, token and key file as run would read them.",
        discussion: """
            Takes the same flags as run. Prints ok, or what is wrong and where, with exit status 78.

            With --probe it also reads from the upstream: up to three pages of each list and one record. It shows what came, \
            what the schema expects and does not find, and what would be better. It changes nothing. Exits with 1 when a list \
            or a record cannot be used.

            With --origin it also lists every value that is not the default, with the file and line, the flag or the \
            environment variable that sets it, and what that replaces.
            """)

    @Flag(help: "Also read from the upstream, and compare what comes with the schema.")
    var probe = false

    @Flag(help: "Also list what sets each value, and what it replaces.")
    var origin = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        var reader = options.setupReader(environment: .ofThisProcess())
        let key = SecretKeyFile(try options.configuration(environment: .ofThisProcess()))
        reader.checksKey = !key.isClosed
        reader.bundle.acceptsFormer = false
        let setup = try reader.setup()
        for warning in setup.configuration.warnings { StandardStream.error.write("warning: \(warning)\n") }
        var lines = [
            "ok", "configuration  \(Self.files(of: setup.configuration))",
            "schema         \(setup.schemaFile) (\(setup.schema.entities.count.counted("entity", "entities")))",
            "state_dir      \(setup.configuration.stateDirectory)",
        ]
        if let bundle = setup.configuration.bundle {
            lines.append("bundle         \(bundle.serial), \(bundle.comment)")
        }
        if origin { lines.append("sha256         \(setup.schemaSHA256), of the schema") }
        if key.isClosed { lines.append("secret key     not checked: only the daemon's user and root can read it") }
        try StandardStream.output.writeResult(lines.joined(separator: "\n") + "\n")
        if origin {
            let origins = try options.origins(environment: .ofThisProcess())
            try StandardStream.output.writeResult("\n" + Self.text(of: origins))
        }
        if probe { try await printProbe(setup) }
    }

    private static func files(of configuration: Configuration) -> String {
        guard let file = configuration.file else { return "no file" }
        return ([file] + configuration.parts).joined(separator: "\n               ")
    }

    static func text(of origins: [ConfigurationOrigin]) -> String {
        if origins.isEmpty { return "all values are the defaults\n" }
        let rows = origins.map { [$0.key, $0.value, $0.source].map(TerminalText.line) }
        // A long value moves only its own line.
        let widths = (0..<2).map { column in min(rows.map { $0[column].count }.max() ?? 0, 40) }
        return zip(rows, origins).map { row, origin in
            let former = TerminalText.line(origin.insteadOf.joined(separator: ", "))
            return "\(row[0].padding(to: widths[0]))  \(row[1].padding(to: widths[1]))  \(row[2])"
                + (former.isEmpty ? "\n" : "  instead of \(former)\n")
        }.joined()
    }

    private func printProbe(_ setup: Setup) async throws {
        let findings = try await UpstreamChecks(
            configuration: setup.configuration, schema: setup.schema,
            finder: SchemaFinder(environment: .ofThisProcess()), now: StateFiles.now
        ).probed()
        try StandardStream.output.writeResult("\n" + findings.map(\.text).joined())
        if findings.contains(where: { $0.level == .error }) { throw ExitCode(CommandStatus.foundError.rawValue) }
    }
}
