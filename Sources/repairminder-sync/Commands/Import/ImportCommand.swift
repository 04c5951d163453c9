import ArgumentParser
import JSONText
import LocalAPI

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Create and update records from NDJSON or CSV.",
        discussion: """
            A row with the id or a natural key of a cached record updates that record; any other row creates one. Empty CSV \
            cells and members that begin with _ are left out, so what export writes can be imported. Importing the same \
            file again within 24 hours creates nothing twice.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case ndjson, csv
    }

    @Argument(help: "The entity, such as orders.", completion: .custom(RecordCompletion.entities))
    var entity: String

    @Argument(help: "The file; - reads standard input.", completion: .file(extensions: ["csv", "ndjson", "jsonl"]))
    var file: String

    @Option(help: "ndjson or csv; by default from the file's name, or from what it begins with.")
    var format: Format?

    @Flag(help: "Only check the rows and show what would be done.")
    var dryRun = false

    @OptionGroup(title: "Where the daemon is")
    var connection: ConnectionOptions

    func run() async throws {
        let client = try connection.client()
        let shape = try await EntityShape(of: entity, client)
        let bytes = file == "-" ? try StandardInput.bytes() : try StandardInput.bytes(of: file)
        let source = ImportSource(shape: shape)
        let rows = try isCSV(bytes) ? source.csv(bytes) : source.lines(bytes)
        // Asked before the first row is looked up: what comes afterwards is found.
        let isLoaded = try await ListPages.isLoaded(entity, client)
        var plan = ImportPlan(entity: entity, shape: shape, isDryRun: dryRun)
        var progress = ProgressLine.onStandardError("checking", unit: .things("rows"))
        for (number, row) in rows.enumerated() {
            progress.show(number, of: rows.count)
            try await plan.add(row, client)
        }
        progress.end()
        try plan.requireLoaded(isLoaded)
        if dryRun {
            plan.countPlanned()
        } else {
            do {
                try await send(&plan, client)
            } catch {
                // Rows before it were imported, or refused, which no later import says.
                try? write(plan)
                throw CommandFailure(any: error)?.stoppingImport ?? error as any Error
            }
        }
        try write(plan)
        try plan.requireAllRows()
    }

    private func isCSV(_ bytes: [UInt8]) -> Bool {
        if let format { return format == .csv }
        if file.hasSuffix(".csv") { return true }
        if file.hasSuffix(".ndjson") || file.hasSuffix(".jsonl") { return false }
        return !ImportSource.isJSON(bytes)
    }

    private func send(_ plan: inout ImportPlan, _ client: LocalAPIClient) async throws {
        var progress = ProgressLine.onStandardError("importing", unit: .things("rows"))
        defer { progress.end() }
        let total = plan.portions.reduce(0) { $0 + $1.rows.count }
        var done = 0
        for portion in plan.portions {
            try await plan.send(portion, client)
            done += portion.rows.count
            progress.show(done, of: total)
        }
    }

    /// What was done, and which rows failed.
    private func write(_ plan: ImportPlan) throws(CommandFailure) {
        StandardStream.error.write(plan.failureText)
        let created = dryRun ? "would create" : "created"
        let updated = dryRun ? "would update" : "updated"
        let known = plan.known > 0 ? ", already imported \(plan.known)" : ""
        try StandardStream.output.writeResult(
            "\(created) \(plan.created), \(updated) \(plan.updated), failed \(plan.failures.count)\(known)\n")
    }
}

extension CommandFailure {
    /// This failure, if an import ended with it before its last row.
    var stoppingImport: CommandFailure {
        var failure = self
        failure.message +=
            "; later rows were not imported: import the same file again within 24 hours, which creates nothing twice"
        return failure
    }
}
