import ArgumentParser
import EntitySchema
import JSONText

/// The flags of the commands that print a table.
struct TableOptions: ParsableArguments {
    @Flag(help: "Show all columns on a terminal, however long the lines become.")
    var wide = false

    @Option(help: ArgumentHelp("The columns of the table, in this order.", valueName: "name,name"))
    var columns: String?

    /// The table as the flags ask for it.
    func rendered(_ table: Table) throws -> StyledText {
        guard let columns else { return table.rendered(presentation) }
        return try table.only(columns.split(separator: ",").map(String.init)).rendered(presentation)
    }

    var presentation: Presentation { ClientOptions.presentation(isWide: wide) }
}

/// The same with `--sort`, for tables that the daemon does not sort.
struct SortedTableOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Columns to sort by, -column for descending.", valueName: "-column,column"))
    var sort: String?

    @OptionGroup var options: TableOptions

    func rendered(_ table: Table) throws -> StyledText {
        try options.rendered(try table.sorted(by: SortTerm.list(sort ?? "")))
    }

    /// The table of these objects, or what is said if there are none.
    func rendered(
        _ objects: [JSONText]?, _ table: ([JSONText]) -> Table, none: StyledText
    ) throws -> StyledText {
        guard let objects, !objects.isEmpty else { return none }
        return try rendered(table(objects))
    }
}
