import ArgumentParser
import LocalAPI

/// The entity, filters and order of the commands that read a list of records.
struct RecordSelection: ParsableArguments {
    @Argument(help: "The entity, such as orders.", completion: .custom(RecordCompletion.entities))
    var entity: String

    @Argument(
        help: ArgumentHelp("Filters.", valueName: "field=value"), completion: .custom(RecordCompletion.filters))
    var filters: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Fields to sort by, -field for descending.", valueName: "-field,field"))
    var sort: String?

    /// The path of the list in the local API.
    var path: String { LocalAPIPaths.records(of: entity) }

    /// Call it when the command runs; see `FieldArgument`.
    func query() throws(CommandFailure) -> LocalAPIClient.Query {
        try FieldArgument.query(filters) + (sort.map { [("sort", $0)] } ?? [])
    }
}
