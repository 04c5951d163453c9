/// A list whose query was checked, with the SQL that it means, which takes as long to make as ten records to read.
///
/// A class only because each step of a read copies what holds it.
package final class PreparedList: Sendable {
    package let query: ListQuery
    let include: [Inclusion]
    let statement: ListStatement
    let extras: RecordExtras
    /// Of its entity, and of those whose records are included.
    let large: [RecordMark]
    let opening: StaticString

    init(
        query: ListQuery, include: [Inclusion], statement: ListStatement, extras: RecordExtras, large: [RecordMark],
        opening: StaticString
    ) {
        self.query = query
        self.include = include
        self.statement = statement
        self.extras = extras
        self.large = large
        self.opening = opening
    }

    /// The same list from another cursor on. Throws for a cursor of another list.
    package func from(_ cursor: String) throws -> PreparedList {
        var query = query
        query.cursor = cursor
        return PreparedList(
            query: query, include: include, statement: try ListStatement(statement, from: cursor), extras: extras,
            large: large, opening: opening)
    }
}
