/// Calls for one record whose paths say what they do: `/orders/{id}/edit`, `/orders/delete/{id}`.
struct ActionCalls {
    /// The calls by the form of their path.
    let calls: [String: [APIOperation]]

    private static let reads = ["detail", "details", "view", "show", "get", "retrieve"]
    static let changes = ["update", "edit", "modify", "change", "update-delete", "update_delete"]
    static let deletions = ["delete", "remove", "destroy"]
    private static let creations = ["create", "add", "new", "store", "insert"]

    /// The path of a record, and the calls for it by what they do, as methods say it. `base`: the path of the list.
    ///
    /// `hasPath`: a record has a path of its own, so that what is below it, such as its details, may be something else.
    func record(base: [String], hasPath: Bool) -> (path: PathPattern, calls: [String: APIOperation])? {
        let form = PathPattern.form(base[...])
        var found: [String: APIOperation] = [:]
        var path: PathPattern?
        for word in Self.reads + Self.changes + Self.deletions {
            for call in (calls["\(form)/{}/\(word)"] ?? []) + (calls["\(form)/\(word)/{}"] ?? []) {
                guard let method = Self.meaning(of: call, word), !hasPath || !Self.reads.contains(word),
                    found[method] == nil,
                    path.map({ $0.parameters == call.path.parameters }) ?? true
                else { continue }
                path = path ?? call.path
                found[method] = call
            }
        }
        return path.map { ($0, found) }
    }

    /// `POST /orders/create`, `POST /orders/createOrder`.
    func creation(_ list: PathPattern, base: [String]) -> APIOperation? {
        let form = PathPattern.form(base[...])
        let own = Words.singular(base.last ?? "")
        return Self.creations.lazy.flatMap { Self.spellings(of: $0, own) }.compactMap { word in
            calls["\(form)/\(word)"]?.first { $0.method == "POST" && $0.path.parameters == list.parameters }
        }.first
    }

    /// A verb alone, and with the name of what it is about.
    private static func spellings(of verb: String, _ name: String) -> [String] {
        guard let first = name.first, Words.isPlain(name) else { return [verb] }
        let title = first.uppercased() + name.dropFirst()
        let ends = [name, name.lowercased(), title, "-\(name)", "_\(name)"]
        return [verb] + ends.map { verb + $0 } + [verb.prefix(1).uppercased() + verb.dropFirst() + title]
    }

    /// The method that is usual for what the call does; nil for one that says something else than its path.
    private static func meaning(of call: APIOperation, _ word: String) -> String? {
        switch call.method {
        case "GET": deletions.contains(word) || call.answer?.isList == true ? nil : "GET"
        case "DELETE": reads.contains(word) ? nil : "DELETE"
        case "POST": changes.contains(word) ? "POST" : deletions.contains(word) ? "DELETE" : nil
        default: deletions.contains(word) ? nil : call.method
        }
    }
}
