/// Calls for one record whose paths say what they do: `/orders/{id}/edit`, `/orders/delete/{id}`.
struct ActionCalls {
    /// The calls by the form of their path.
    let calls: [String: [APIOperation]]

    static let reads = ["detail", "details", "view", "show", "get", "retrieve"]
    static let changes = ["update", "edit", "modify", "change", "update-delete", "update_delete"]
    static let deletions = ["delete", "remove", "destroy"]
    private static let creations = ["create", "add", "new", "store", "insert"]

    /// The path of a record, and the calls for it by what they do, as methods say it. `base`: the path of the list.
    ///
    /// `hasPath`: a record has a path of its own, so that what is below it, such as its details, may be something else.
    func record(base: [String], hasPath: Bool) -> (path: PathPattern, calls: [String: APIOperation])? {
        let form = PathPattern.form(base)
        var found: [String: APIOperation] = [:]
        var path: PathPattern?
        for word in Self.reads + Self.changes + Self.deletions {
            let names = Self.spellings(of: word, base)
            for call in names.flatMap({ (calls["\(form)/{}/\($0)"] ?? []) + (calls["\(form)/\($0)/{}"] ?? []) }) {
                guard let method = Self.meaning(of: call, word), !hasPath || !Self.reads.contains(word),
                    found[method] == nil,
                    path.map({ $0.parameters.dropLast() == call.path.parameters.dropLast() }) ?? true
                else { continue }
                path = path ?? call.path
                found[method] = call
            }
        }
        return path.map { ($0, found) }
    }

    /// `POST /orders/create`, `POST /orders/createOrder`.
    func creation(_ list: PathPattern, base: [String]) -> APIOperation? {
        below(base, Self.creations).first { $0.method == "POST" && $0.path.parameters == list.parameters }
    }

    /// The calls right below a list that do one of these things by their name: `/orders/update`, `/orders/UpdateOrder`.
    func below(_ base: [String], _ verbs: [String]) -> [APIOperation] {
        let form = PathPattern.form(base)
        return verbs.flatMap { Self.spellings(of: $0, base) }.flatMap { calls["\(form)/\($0)"] ?? [] }
    }

    /// All calls below a list that by their name create, show, change or delete one of its records.
    func all(below base: [String]) -> [APIOperation] {
        let ofOne = record(base: base, hasPath: false)?.calls.values.map(\.self) ?? []
        return below(base, Self.creations + Self.reads + Self.changes + Self.deletions) + ofOne
    }

    /// Whether a path says that it changes a record.
    static func isChange(_ path: PathPattern, base: [String]) -> Bool {
        let names = Set(changes.flatMap { spellings(of: $0, base) })
        return path.segments.contains { names.contains($0.lowercased()) }
    }

    /// A verb alone, with the name of what it is about, and with what finds that. In lower case, as in the form of a
    /// path: `get`, `getorder`, `get-order`, `getorderbyid`.
    private static func spellings(of verb: String, _ base: [String]) -> [String] {
        let name = Words.singular(base.last ?? "").lowercased()
        let named = name.isEmpty || !Words.isPlain(name) ? [] : ["", "-", "_"].map { verb + $0 + name }
        let ends = creations.contains(verb) ? [""] : ["", "byid", "-by-id", "_by_id"]
        return ([verb] + named).flatMap { word in ends.map { word + $0 } }
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
