import EntitySchema
import JSONText
import LocalAPI

/// What may be meant where a list is empty because a filter compares a value that no record has as it is written.
enum EmptyListHint {
    /// A line for each such filter; `fields` of the schema's entity say which hold times.
    static func lines(_ query: LocalAPIClient.Query, _ shape: EntityShape) -> [String] {
        query.compactMap { name, value in
            let field = name.hasSuffix(".eq") ? String(name.dropLast(3)) : name
            guard let type = shape.field(field)?["type"]?.string else { return nil }
            if type == "time", let next = dayAfter(value) {
                return "\(name)=\(value) is the first moment of that day; for the whole day write "
                    + "\(field).gte=\(value) \(field).lt=\(next)"
            }
            let word = value.trimmingPrefix { "*%".contains($0) }
            let part = String(word.reversed().trimmingPrefix { "*%".contains($0) }.reversed())
            guard type == "string", part != value, !part.isEmpty else { return nil }
            return
                "\(name)=\(value) is compared as it is written; for a part of the text write \(field).contains=\(part)"
        }
    }

    /// Nil unless the text is a day, such as 2026-11-21.
    private static func dayAfter(_ text: String) -> String? {
        guard text.utf8.count == 10, let start = Timestamp(iso8601: "\(text)T00:00:00Z") else { return nil }
        return String((start + .seconds(86_400)).description.prefix(10))
    }
}
