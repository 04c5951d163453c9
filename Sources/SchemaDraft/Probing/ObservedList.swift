package import JSONText

/// What the answers to a few requests show of one list.
package struct ObservedList: Sendable {
    /// Below the address, such as `/orders`.
    package var path: String
    /// The pages, as answered.
    package var answers: [JSONText]
    /// The parameter for the next page that worked, and what it takes.
    package var page: (name: String, isNumber: Bool)?
    /// Where the answer names the next page: by what `page` takes or, without `page`, in a way that did not work.
    package var nextPlace: String?
    /// The parameter for the number of records that worked.
    package var size: String?
    /// The answer with fewer of the same records that it brought, which may say more about the next page.
    package var small: JSONText?
    package var hasLinkHeader = false
    /// The header with the length of the list.
    package var totalHeader: String?
    /// The answer to the request for one record by its key.
    package var single: JSONText?
    /// The path of that request with a name in braces, if a document has it.
    package var singlePath: String?
    /// The key that this request was made with.
    package var servedKey: String?

    package init(path: String, answers: [JSONText]) {
        self.path = path
        self.answers = answers
    }

    /// The records of an answer: its longest list of objects, at most three levels deep.
    package static func records(in answer: JSONText) -> [JSONText] {
        var best: [JSONText] = []
        func look(_ value: JSONText, _ depth: Int) {
            if value.kind == .array {
                let elements = value.elements
                if elements.first?.kind == .object, elements.count > best.count { best = elements }
            } else if value.kind == .object, depth < 3 {
                for (_, value) in value.members.prefix(100) { look(value, depth + 1) }
            }
        }
        look(answer, 0)
        return best
    }

    package var records: [JSONText] { answers.flatMap(Self.records) }

    /// Below the list, with a slash at the end if the list has one.
    package func recordPath(_ key: String) -> String {
        path.hasSuffix("/") ? "\(path)\(key)/" : "\(path)/\(key)"
    }

    /// The member that differs for each record and is named as keys are.
    package var key: String? { servedKey ?? keys.first }

    /// All such members, the likeliest first.
    package var keys: [String] {
        let records = records
        let names = records.first?.members.map(\.key).filter(FieldNames.isAllowed) ?? []
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let own = Words.folded(Words.singular(last)) + "id"
        let likely = [
            "id", "sysid", "uuid", "guid", "key", own, "uid", "sid", "pk", "iid", "slug", "code",
            "number",
        ]
        let order =
            likely.compactMap { word in names.first { Words.folded($0) == word } }
            + names.filter { ["id", "uuid", "key"].contains(Words.lastWord(of: $0)) }
            + names.filter { Words.folded($0) == "name" }
        let unique = order.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return unique.filter { name in
            let values = records.compactMap { $0[name]?.plain }.filter { !$0.isEmpty }
            return values.count == records.count && Set(values).count == values.count
        }
    }
}
