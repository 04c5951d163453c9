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
            reads lists of the live API instead: two pages and one record of each, only by GET, at most 50 requests. With both \
            it reads the document, and from the API the first page and one record of each list whose answers the document leaves \
            open.

            Writes a schema that check-config accepts once you have set the settings that it names. Comments in it say why \
            each value was chosen; TODO marks what was not found. Existing files stay unless --force is given.
            """)

    @Option(help: ArgumentHelp("An OpenAPI document.", valueName: "file|url"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "The address of a list; can be repeated. With --from: the address in front of the document's paths.",
            valueName: "url"))
    var probe: [String] = []

    @Option(
        name: .customLong("token-file"), help: ArgumentHelp("With --probe: the file with the token.", valueName: "file")
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "With --probe: how the token is sent: bearer, basic, header:NAME or query:NAME; else as the document says, or bearer.",
            valueName: "way"))
    var auth: String?

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
        guard from != nil || !probe.isEmpty else {
            throw ValidationError("give --from with an OpenAPI document, or --probe with the address of a list")
        }
        _ = try tokenPlace()
        if probe.isEmpty, tokenFile != nil {
            throw ValidationError("--token-file belongs to --probe; a document alone needs none")
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
        let hint = ProbeHint(document: document, from: from, isProbed: !probe.isEmpty, names: names).text
        let draft: SchemaDraft
        do throws(SchemaDraftError) {
            draft = try drafter.draft(only: names)
        } catch {
            let reason = "\(from.map { "\($0): " } ?? "")\(error.message)"
            throw CommandFailure(.badData, reason + Self.lines([hint].compactMap(\.self) + notes))
        }
        notes += [hint].compactMap(\.self)
        let token = tokenFile ?? (from == nil ? nil : "FILE")
        let report = DraftReport(draft: draft, file: file, notes: notes, tokenFile: token).text
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

    private var names: [String] {
        (only ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
    }

    private func document(_ notes: inout [String]) async throws -> OpenAPIDocument {
        if let from {
            let document = try await DocumentSource(text: from).document()
            return probe.isEmpty ? document : try await completed(document, &notes)
        }
        let (address, paths) = try ProbeAddresses(probe).split()
        let place = try tokenPlace() ?? .bearer
        var lists = try lists(at: address, place)
        let observed = try await asking(&lists) { await $0.observed(paths) }
        notes = lists.notes
        do throws(SchemaDraftError) {
            return try ObservedAPI(address: address, lists: observed, signIn: tokenFile == nil ? nil : place).document()
        } catch {
            throw CommandFailure(.unreachable, error.message + Self.lines(notes))
        }
    }

    /// With what its lists answer where it does not say that.
    private func completed(_ document: OpenAPIDocument, _ notes: inout [String]) async throws -> OpenAPIDocument {
        let address = try ProbeAddresses(probe).base()
        let unsaid = UnsaidLists(document).found(names: names)
        guard !unsaid.isEmpty else {
            notes.append("nothing was asked: found no list whose answers the document leaves open")
            return document
        }
        let own = try tokenPlace()
        let known = document.tokenPlace
        let place = own ?? known ?? .bearer
        var lists = try lists(at: address, place)
        let observed = try await asking(&lists) { await $0.observed(unsaid) }
        notes = lists.notes
        guard !observed.isEmpty else {
            let said = document.address(source: from ?? "")
            let reason = "no list of the document answered with records; check the token and the address"
            throw CommandFailure(.unreachable, "\(reason), which is \(said) in the document" + Self.lines(notes))
        }
        let isNews = tokenFile != nil && (own != nil || known == nil)
        return ObservedAPI(address: address, lists: observed, signIn: isNews ? place : nil).completing(document)
    }

    private func lists(at address: String, _ place: TokenPlace) throws -> LiveLists {
        let token = try tokenFile.map { try Self.token($0, place) }
        let transport = try CurlTransport(userAgent: ProgramVersion.userAgent)
        return LiveLists(address: address, transport: transport, token: token, place: place)
    }

    static func token(_ path: String, _ place: TokenPlace) throws(TokenFileError) -> String {
        try FileToken.token(in: try ConnectionOptions.text(of: path), of: path, for: place)
    }

    private func asking(
        _ lists: inout LiveLists, _ ask: (inout LiveLists) async -> [ObservedList]
    ) async throws -> [ObservedList] {
        let asked = ProbeProgress(most: LiveLists.mostRequests)
        lists.asks = asked.note
        return try await ProgressLine.showing({ asked.sample }) { await ask(&lists) }
    }

    /// Each in a line of its own.
    private static func lines(_ notes: [String]) -> String { notes.map { "\n  \($0)" }.joined() }

    /// Nil if the caller does not say it.
    private func tokenPlace() throws -> TokenPlace? {
        guard let auth else { return nil }
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
