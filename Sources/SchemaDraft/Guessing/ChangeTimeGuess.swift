/// How a list is asked for what changed, and which field has the time of a change.
struct ChangeTimeGuess {
    let list: APIOperation
    let fields: [DraftField]

    /// The field with the time of a record's last change, likeliest first.
    private static let names = [
        "updatedat", "modifiedat", "updatedon", "modifiedon", "lastmodified", "lastupdated", "lastmodifiedat",
        "updated",
        "modified", "lastupdatedat", "updatetime", "modifiedtime", "changedat", "lastmodifieddatetime",
        "lastmodifieddate",
        "updateddateutc", "lastupdate", "dateupdated", "datemodified", "lastmodifiedtime", "updateddate", "mtime",
    ]

    private static let verbs = ["updated", "modified", "changed", "update", "modification"]
    private static let bounds = ["since", "after", "gte", "gt", "from", "min", "start", "ge"]

    var field: DraftField? {
        for name in Self.names {
            if let found = fields.first(where: { Words.folded($0.wireName) == name && !$0.isSecret }) { return found }
        }
        return nil
    }

    func since() -> Guess<DraftEntity.Since>? {
        guard let field, let parameter = list.queries.first(where: Self.isBound),
            let format = Self.format(of: parameter), fits(field, format)
        else { return nil }
        return Guess(
            DraftEntity.Since(parameter: parameter.name, field: field.name, format: format == "iso" ? nil : format),
            "by the names \(parameter.name) and \(field.wireName)")
    }

    /// `updated_since`, `updated_at[gte]`, `filter[updated_after]`, `modified_since`.
    private static func isBound(_ parameter: APIOperation.Parameter) -> Bool {
        guard [.string, .integer, .unknown, .number].contains(parameter.shape.kind) else { return false }
        let words = Words.snake(parameter.name).split(separator: "_").map(String.init)
        return words.contains(where: verbs.contains) && words.contains(where: bounds.contains)
    }

    private static func format(of parameter: APIOperation.Parameter) -> String? {
        switch parameter.shape.kind {
        case .integer, .number:
            return (parameter.description ?? "").lowercased().contains("milli") ? "epoch_ms" : "epoch"
        default: return parameter.shape.format == "date" ? "date" : "iso"
        }
    }

    private func fits(_ field: DraftField, _ format: String) -> Bool {
        switch field.kind {
        case .simple("time"), .simple("string"): true
        case .simple("integer"): format.hasPrefix("epoch")
        default: false
        }
    }
}
