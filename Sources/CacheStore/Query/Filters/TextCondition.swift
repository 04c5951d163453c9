internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// A comparison with the beginning or a part of a text, for which A to Z are the same in either case.
///
/// It reads the values of all rows. Where an index can name those that may match, and a few more, only these are read:
/// the field's own by its beginning, else the search index, which ignores case and accents too.
struct TextCondition {
    let table: EntityTable
    let field: Field
    let text: String
    let operation: FilterComparison.Operation

    /// No one looks for longer texts.
    private static let longest = 200

    /// The caller's text. Throws if it is empty or too long.
    static func checked(_ comparison: FilterComparison) throws(CacheError) -> String {
        let text = comparison.value
        guard !text.isEmpty, text.unicodeScalars.count <= longest else {
            throw comparison.refusal(
                "\(comparison.path.joined(separator: ".").prefix(100)).\(comparison.operation.rawValue): "
                    + "expected 1 to \(longest) characters")
        }
        return text
    }

    /// The comparison of a value with the text, which is bound.
    static func sql(of value: String, _ operation: FilterComparison.Operation) -> String {
        "\(operation == .contains ? "text_contains" : "text_begins")(\(value), ?)"
    }

    // MARK: Looking up

    /// A condition that an index seeks and that every matching row meets; nil if there is none.
    var lookup: BoundSQL? {
        if operation == .starts, table.isIndexed(field.name) { return range }
        return search
    }

    /// The range of the field's index that begins with the text, for each way to write its first letters.
    private var range: BoundSQL {
        let column = table.sql(for: field.name)
        let ranges = Self.beginnings(of: text).map { beginning -> BoundSQL in
            guard let end = Self.end(of: beginning) else { return ("\(column) >= ?", [beginning.databaseValue]) }
            return ("\(column) >= ? AND \(column) < ?", [beginning.databaseValue, end.databaseValue])
        }
        let conditions = ranges.map { "\(CompiledFilter.indexed) AND \($0.sql)" }
        return ("(\(conditions.joined(separator: " OR ")))", ranges.flatMap(\.arguments))
    }

    private static let mostBeginnings = 8

    /// The first characters in every case, as many as have at most eight ways to be written.
    static func beginnings(of text: String) -> [String] {
        var beginnings = [""]
        for scalar in text.unicodeScalars {
            let cases = Set([String(scalar).lowercased(), String(scalar).uppercased()])
            guard scalar.isASCII, cases.count > 1 else {
                beginnings = beginnings.map { $0 + String(scalar) }
                continue
            }
            guard beginnings.count * 2 <= mostBeginnings else { break }
            beginnings = beginnings.flatMap { beginning in cases.sorted().map { beginning + $0 } }
        }
        return beginnings
    }

    /// The first text after all that begin so, in the order of their bytes; nil if there is none.
    static func end(of beginning: String) -> String? {
        var scalars = Array(beginning.unicodeScalars)
        while let last = scalars.popLast() {
            // The surrogates are no characters.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            return String(String.UnicodeScalarView(scalars + [scalar]))
        }
        return nil
    }

    /// What the search index finds, and what it does not know yet.
    private var search: BoundSQL? {
        guard let searched = SearchTable(table.entity) else { return nil }
        let query = SearchBound(text, isPrefix: operation == .starts)
        let (part, expression): (SearchPart?, String?) =
            if searched.fragments?.fields.contains(field.name) == true {
                (searched.fragments, query.fragment)
            } else if searched.words?.fields.contains(field.name) == true {
                (searched.words, query.words)
            } else {
                (nil, nil)
            }
        guard let part, let expression else { return nil }
        let entity = table.entity.name
        return (
            """
            _pk IN (
              SELECT rowid FROM \(part.name) WHERE \(part.name) MATCH ?
              UNION ALL SELECT _pk FROM \(SearchTable.outdated(entity)) WHERE part = \(part.kind.rawValue)
              UNION ALL SELECT _pk FROM \(table.name) WHERE _pk > \(SearchTable.indexedTo(entity)))
            """, ["\(SearchTable.column(field.name)) : \(expression)".databaseValue]
        )
    }
}
