import ArgumentParser
import EntitySchema

/// The flags of the commands that print a table.
struct TableOptions: ParsableArguments {
    @Flag(help: "Show all columns on a terminal, however long the lines become.")
    var wide = false

    @Option(help: ArgumentHelp("The columns of the table, in this order.", valueName: "name,name"))
    var columns: String?

    var names: [String]? { columns?.split(separator: ",").map(String.init) }

    /// The table as the flags ask for it.
    func rendered(_ table: Table, sortedBy sort: String? = nil) throws -> StyledText {
        do throws(CommandArgumentError) {
            var table = table
            if let sort { table = try table.sorted(by: SortTerm.list(sort)) }
            if let names { table = try table.only(names) }
            return table.rendered(ClientOptions.presentation(isWide: wide))
        } catch {
            throw CommandFailure(.usage, error.message)
        }
    }
}

/// `--sort` of tables that the daemon does not sort.
struct SortOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Columns to sort by, -column for descending.", valueName: "-column,column"))
    var sort: String?
}
