import ArgumentParser
import EntitySchema
import LocalAPI

/// The flags of `queue show` and `pending` that select changes.
struct QueueFilters: ParsableArguments {
    @Option(help: ArgumentHelp("Only changes of these entities, separated by commas.", valueName: "name"))
    var entity: String?

    @Option(
        help: ArgumentHelp(
            "Only these states, separated by commas: queued, uploading, waiting, blocked, failed.", valueName: "state"))
    var state: String?

    @Option(help: ArgumentHelp("Only changes of the record with this id.", valueName: "id"))
    var record: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Sort by id, retry_count, created_at, last_attempt_at or next_attempt_at, -column for descending.",
            valueName: "-column,column"))
    var sort: String?

    var query: LocalAPIClient.Query {
        [("entity", entity), ("state", state), ("record", record), ("sort", sort)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    /// The columns of the table that the changes are sorted by.
    var sortedColumns: Set<String> {
        Set(SortTerm.list(sort ?? "").map { $0.field == "retry_count" ? "tries" : $0.field })
    }

    var isEmpty: Bool { query.isEmpty }
}
