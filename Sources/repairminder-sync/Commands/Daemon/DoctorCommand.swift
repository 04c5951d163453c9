import ArgumentParser
import CacheStore
import CallerLookup
import EntitySchema
import Foundation
import JSONText

struct DoctorCommand: AsyncParsableCommand, StateCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check everything the daemon needs and suggest fixes.",
        discussion: """
            Checks configuration, schema, files, database and upstream, whether or not the daemon is running, and \
            changes nothing. Root and the daemon's user check everything, other users what they can see. \
            Exits with 1 when a check finds an error.

            With --deep it also compares everything that the database keeps twice: records with the queue, derived \
            fields, counters, search index and reminders.
            """)

    @Flag(help: "Print the findings as a JSON array.")
    var json = false

    @Flag(help: "Also compare everything that the database keeps twice: some seconds for each 100,000 records.")
    var deep = false

    @OptionGroup var options: BriefConfigurationOptions

    /// What systemd has answered root about the socket unit; nil when root has not asked.
    private var unit: String?

    private enum CodingKeys: CodingKey {
        case json, deep, options
    }

    mutating func openAsRoot() { if isPackaged { unit = SocketUnitChecks.shown() } }

    func run() async throws {
        let findings = await findings()
        let text =
            json ? JSONText.array(findings.map(\.json)).text + "\n" : findings.map(\.text).joined()
        try StandardStream.output.writeResult(text)
        if findings.contains(where: { $0.level == .error }) { throw ExitCode(CommandStatus.foundError.rawValue) }
    }

    /// Only the packaged service has a socket unit.
    private var isPackaged: Bool { options.config == nil }

    /// Who listens at the daemon's addresses.
    private func listening(_ configuration: Configuration) -> [Finding] {
        let listeners = ListenerChecks(configuration: configuration, lookup: CallerLookup()).findings()
        guard isPackaged else { return listeners }
        let shown = unit ?? SocketUnitChecks.shown()
        return listeners + (SocketUnitChecks(shown: shown, configuration: configuration)?.findings() ?? [])
    }

    private func findings() async -> [Finding] {
        let environment = Environment.ofThisProcess()
        let configuration: Configuration
        let schema: EntitySchema
        do {
            configuration = try options.configuration(environment: environment)
        } catch {
            return [.error("config", "\(error)", "correct that; docs/config.md lists every key")]
        }
        let read = configuration.warnings.map { text in
            let isOfBundle = text == configuration.bundle?.warning
            let advice = isOfBundle ? "install a bundle again: bundle install FILE" : "unset it or correct its name"
            return Finding.warning("config", text, advice)
        }
        let config = read + [.ok("config", files(of: configuration))]
        let open: [Finding]
        do {
            let reader = options.setupReader(environment: environment)
            schema = try reader.ownSchema(for: configuration)
            open = try reader.groupWarnings(of: configuration).map {
                .warning("config", $0, "see who is trusted with what in docs/guides/securing.md")
            }
        } catch {
            return config + [.error("schema", "\(error)", "correct that; docs/schema.md describes the format")]
        }
        let plain = configuration.plainHTTP(with: schema).map {
            Finding.warning("tls", $0, "see TLS and other machines in docs/guides/securing.md")
        }
        let entities = schema.entities.count.counted("entity", "entities")
        return config + open + [.ok("schema", "\(schema.name), \(entities)")] + plain
            + (await stored(configuration, schema))
            + SignalChecks(configuration: configuration, schema: schema).findings()
            + configuration.hooks(for: schema).compactMap(\.programWarning).map {
                .warning("hooks", $0, "install the program, make it executable, or correct its path")
            }
            + (await StandbyChecks(configuration: configuration).findings())
            + listening(configuration)
            + (await DaemonChecks(configuration: configuration, systemSocket: options.systemSocket).findings())
    }

    private func files(of configuration: Configuration) -> String {
        guard let file = configuration.file else { return "no file" }
        guard !configuration.parts.isEmpty else { return file }
        let count = configuration.parts.count.counted("file", "files")
        return "\(file), and \(count) in \(ConfigurationFiles.folder(of: file))"
    }

    /// The state directory and its database, and the upstream with the token from there.
    private func stored(_ configuration: Configuration, _ schema: EntitySchema) async -> [Finding] {
        let state = StateChecks(configuration: configuration, schema: schema)
        let upstream = UpstreamChecks(
            configuration: configuration, schema: schema, finder: SchemaFinder(environment: .ofThisProcess()),
            now: StateFiles.now)
        if let closed = state.closed() { return [closed] + (await upstream.findings(withToken: false)) }
        // Opened only if it exists: doctor creates no directories.
        let exists = FileManager.default.fileExists(atPath: configuration.stateDirectory)
        let path = exists ? (try? StateFiles(options))?.directory.inUse : nil
        let database = DatabaseChecks(
            configuration: configuration, path: path, now: StateFiles.now(), schema: schema,
            deepSchema: deep ? schema : nil)
        return state.findings() + database.findings() + (await upstream.findings(withToken: true))
    }
}
