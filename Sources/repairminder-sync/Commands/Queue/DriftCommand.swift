import ArgumentParser
import JSONText
import LocalAPI

struct DriftCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift", abstract: "Show where the upstream's records and the schema disagree.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try options.show(try await options.client().get(LocalAPIPaths.drift).body) { answer in
            DriftText.report(answer, ClientOptions.rendered)
        }
    }
}

/// Drift for a person.
enum DriftText {
    /// A table of the disagreements, one of the records set aside, whichever there are.
    static func report(_ answer: JSONText, _ rendered: (Table) -> String) -> String {
        let drift = answer["data"]?.elements ?? []
        let aside = answer["set_aside"]?.elements ?? []
        var parts: [String] = []
        if !drift.isEmpty { parts.append(rendered(table(drift))) }
        if !aside.isEmpty { parts.append("without a usable key, set aside:\n" + rendered(setAside(aside))) }
        return parts.isEmpty ? "records and schema agree\n" : parts.joined(separator: "\n")
    }

    static func table(_ drift: [JSONText]) -> Table {
        let columns = ["entity", "field", "kind", "expected", "found", "count", "example", "last_seen"]
        return Table(header: columns, rows: drift.map { row in columns.map { row[$0]?.plain ?? "" } })
    }

    static func setAside(_ records: [JSONText]) -> Table {
        let columns = ["entity", "at", "record"]
        return Table(header: columns, rows: records.map { row in columns.map { row[$0]?.plain ?? "" } })
    }
}
