import ArgumentParser
import JSONText
import LocalAPI

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write all records of an entity to standard output.",
        discussion: """
            Takes the filters of list. ndjson is one record per line, unchanged. csv is RFC 4180 with a header line; its \
            columns are the schema's fields, or those of fields=id,status. A ' is put before text that a spreadsheet \
            would run as a formula, unless --raw is given. --bom lets Excel know that the file is UTF-8.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case ndjson, csv
    }

    @OptionGroup var selection: RecordSelection

    @Option(help: "ndjson or csv.")
    var format: Format

    @Flag(help: "csv: write text unchanged, even if a spreadsheet would run it as a formula.")
    var raw = false

    @Flag(help: "csv: begin with a byte order mark, without which Excel shows letters such as ü wrongly.")
    var bom = false

    @OptionGroup(title: "Where the daemon is") var connection: ConnectionOptions

    private static let pageSize = 1000

    func validate() throws {
        if raw, format != .csv { throw ValidationError("--raw requires --format csv") }
        if bom, format != .csv { throw ValidationError("--bom requires --format csv") }
    }

    func run() async throws {
        var query = try selection.query()
        if let name = ["limit", "cursor", "count"].first(where: { name in query.contains { $0.name == name } }) {
            throw CommandFailure(.usage, "\(name)=: export writes every match; use list for \(name)")
        }
        let client = try connection.client()
        query.append(("limit", "\(Self.pageSize)"))
        switch format {
        case .ndjson:
            try await write(query, client) { records in
                var lines: [UInt8] = []
                for record in records { RecordLines.append(record, to: &lines) }
                return lines
            }
        case .csv:
            let columns = try await columns(query, client)
            if !query.contains(where: { $0.name == "fields" }) {
                query.append(("fields", columns.joined(separator: ",")))
            }
            let csv = CSV(columns: columns, guardsFormulas: !raw)
            var lines: [UInt8] = bom ? CSVReader.mark : []
            csv.appendHeader(to: &lines)
            try await write(query, client) { records in
                defer { lines = [] }
                for record in records { csv.append(record, to: &lines) }
                return lines
            }
        }
    }

    private func write(
        _ query: LocalAPIClient.Query, _ client: LocalAPIClient, _ lines: ([JSONText]) -> [UInt8]
    ) async throws {
        var progress = ProgressLine.onStandardError(
            "exporting", unit: .things("records"), isOn: !StandardStream.output.isTerminal)
        defer { progress.end() }
        let total = progress.isShown ? try await total(query, client) : nil
        var done = 0
        let isComplete = try await ListPages.each(of: selection.path, query: query, client) { records in
            done += records.count
            progress.show(done, of: total)
            try StandardStream.output.writeResult(String(decoding: lines(records), as: UTF8.self))
        }
        progress.end()
        if !isComplete { StandardStream.error.write(ListPages.incomplete(selection.entity)) }
    }

    private func total(_ query: LocalAPIClient.Query, _ client: LocalAPIClient) async throws -> Int? {
        let counted =
            query.filter { !["limit", "fields", "sort"].contains($0.name) } + [("count", "true"), ("limit", "1")]
        return try await client.get(selection.path, query: counted).body?["total"]?.integer
    }

    /// The columns from `fields=`, otherwise the fields that the daemon's schema has, without secret ones.
    private func columns(
        _ query: LocalAPIClient.Query, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> [String] {
        if let named = query.first(where: { $0.name == "fields" }) {
            return named.value.split(separator: ",").map(String.init)
        }
        return try await EntityShape(of: selection.entity, client).names { $0["secret"]?.boolean != true }
    }
}
