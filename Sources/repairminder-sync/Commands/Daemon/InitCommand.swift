import ArgumentParser
import EntitySchema
import Foundation
import SchemaDraft
import Upstream

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Draft a schema from an OpenAPI document, or from what an API answers.",
        discussion: """
            With --from it reads an OpenAPI document (2.0, 3.0 or 3.1; JSON or YAML; a file or an address). With --probe it \
            reads lists of the live API instead: two pages and one record of each, only by GET, at most 50 requests.

            Writes a schema that check-config accepts once you have set the settings that it names. Comments in it say why \
            each value was chosen; TODO marks what was not found. Existing files stay unless --force is given.
            """)

    @Option(help: ArgumentHelp("An OpenAPI document.", valueName: "file|url"))
    var from: String?

    @Option(help: ArgumentHelp("The address of a list; can be repeated.", valueName: "url"))
    var probe: [String] = []

    @Option(
        name: .customLong("token-file"), help: ArgumentHelp("With --probe: the file with the token.", valueName: "file")
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "With --probe: how the token is sent: bearer, basic, header:NAME or query:NAME.", valueName: "way"))
    var auth = "bearer"

    @Option(help: ArgumentHelp("Only these lists, by the names that they get.", valueName: "names"))
    var only: String?

    @Option(help: ArgumentHelp("The file to write; without it the schema's name and .yaml.", valueName: "file"))
    var out: String?

    @Flag(help: "Ask about what is uncertain, one question at a time.")
    var ask = false

    @Flag(name: .customLong("dry-run"), help: "Print the schema and write nothing.")
    var dryRun = false

    @Flag(help: "Replace the file if it exists.")
    var force = false

    func validate() throws {
        guard (from != nil) != !probe.isEmpty else {
            throw ValidationError(
                "give --from with an OpenAPI document, or --probe with the address of a list"
                    + (from == nil ? "" : ", not both"))
        }
        _ = try tokenPlace()
        if from != nil, tokenFile != nil {
            throw ValidationError("--token-file belongs to --probe; a document needs none")
        }
    }

    func run() async throws {
        // Before anything is asked or answered.
        if let out { try requireFree(out) }
        var notes: [String] = []
        let document = try await document(&notes)
        var drafter = SchemaDrafter(document, source: from ?? "the answers of \(probe.joined(separator: ", "))")
        let file = out ?? "\(drafter.name).yaml"
        try requireFree(file)
        if ask { try DraftDialogue(questions: Questions()).correct(&drafter) }
        let names = (only ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        let draft: SchemaDraft
        do throws(SchemaDraftError) {
            draft = try drafter.draft(only: names)
        } catch {
            throw CommandFailure(.badData, "\(from.map { "\($0): " } ?? "")\(error.message)")
        }
        let needsToken = from != nil || tokenFile != nil
        let report = DraftReport(draft: draft, file: file, notes: notes, needsToken: needsToken).text
        guard !dryRun else {
            try StandardStream.output.writeResult(draft.yaml)
            return StandardStream.error.write(report)
        }
        try write(draft.yaml, to: file)
        try StandardStream.output.writeResult("Wrote \(file).\n\(report)")
    }

    private func requireFree(_ file: String) throws(CommandFailure) {
        guard dryRun || force || !FileManager.default.fileExists(atPath: file) else { throw Self.exists(file) }
    }

    private static func exists(_ file: String) -> CommandFailure {
        CommandFailure(.usage, "\(file) exists; name another file with --out, or replace it with --force")
    }

    private func write(_ yaml: String, to file: String) throws(CommandFailure) {
        do {
            if force { try WholeFile.write(yaml, to: file) } else { try WholeFile.create(yaml, at: file) }
        } catch CocoaError.fileWriteFileExists {
            throw Self.exists(file)
        } catch {
            throw CommandFailure.unwritable(file, error)
        }
    }

    private func document(_ notes: inout [String]) async throws -> OpenAPIDocument {
        if let from { return try await DocumentSource(text: from).document() }
        let (address, paths) = try ProbeAddresses(probe).split()
        let place = try tokenPlace()
        let token = try tokenFile.map { try FileToken(path: $0, for: place) }?.current()
        let transport = try CurlTransport(userAgent: ProgramVersion.userAgent)
        var lists = LiveLists(address: address, transport: transport, token: token, place: place)
        let asked = ProbeProgress(most: LiveLists.mostRequests)
        lists.asks = asked.note
        let observed = try await ProgressLine.showing({ asked.sample }) { await lists.observed(paths) }
        notes = lists.notes
        do throws(SchemaDraftError) {
            return try ObservedAPI(address: address, lists: observed, signIn: token == nil ? nil : place).document()
        } catch {
            let reasons = notes.isEmpty ? "" : "\n" + notes.map { "  \($0)" }.joined(separator: "\n")
            throw CommandFailure(.unreachable, error.message + reasons)
        }
    }

    private func tokenPlace() throws -> TokenPlace {
        let parts = auth.split(separator: ":", maxSplits: 1).map(String.init)
        switch parts.first ?? "" {
        case "bearer" where parts.count == 1: return .bearer
        case "basic" where parts.count == 1: return .basic
        case "header" where parts.count == 2: return .header(name: parts[1], before: "", after: "")
        case "query" where parts.count == 2: return .query(name: parts[1])
        default: throw ValidationError("--auth is \(auth); expected bearer, basic, header:NAME or query:NAME")
        }
    }
}
