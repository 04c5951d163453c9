/// How a list is asked for what changed, and which field has the time of a change.
struct ChangeTimeGuess {
    let list: APIOperation
    let fields: [DraftField]

    private static let verbs = ["updated", "modified", "changed", "edited", "update", "modification", "change"]
    private static let bounds = ["since", "after", "gte", "gt", "from", "min", "start", "ge", "begin", "newer"]

    /// The field with the time of a record's last change: the likeliest verb; of several fields, one in UTC.
    var field: DraftField? {
        let times = fields.filter { !$0.isSecret }.map { ($0, Words.folded($0.wireName)) }
        for verb in Self.verbs {
            let found = times.filter { Self.isTime($0.1, of: verb) }
            if let field = found.first(where: { $0.1.hasSuffix("gmt") || $0.1.hasSuffix("utc") }) ?? found.first {
                return field.0
            }
        }
        return times.first { $0.1 == "mtime" }?.0
    }

    /// Whether a name has nothing but the verb and words for a time: `lastModifiedDateTime`, `date_updated`, `changed`.
    private static func isTime(_ folded: String, of verb: String) -> Bool {
        guard let place = folded.firstRange(of: verb) else { return false }
        let isBegun = String(folded[..<place.lowerBound]).wholeMatch(of: /(last|date|time)*/) != nil
        // No `timestamp`, which is two of them: a long name could be read in more ways than there is time to try.
        let isEnded =
            String(folded[place.upperBound...]).wholeMatch(of: /(at|on|date|time|stamp|ts|utc|gmt)*/) != nil
        return isBegun && isEnded
    }

    func since() -> Guess<DraftEntity.Since>? {
        if RowFilters.has(list), let field, field.isTime, list.queries.contains(where: { $0.name == field.wireName }) {
            return Guess(
                DraftEntity.Since(parameter: field.wireName, field: field.name, value: "gte.{$since}"),
                "by its name, and each field takes a condition")
        }
        guard let field, let parameter = bound, let form = Self.form(of: parameter), fits(field, form) else {
            return nil
        }
        return Guess(
            DraftEntity.Since(
                parameter: parameter.name, isHeader: parameter.place == "header", field: field.name,
                format: form == "iso" ? nil : form),
            "by the names \(parameter.name) and \(field.wireName)")
    }

    /// What keeps a parameter for changes from being used, for a comment.
    var todo: String? {
        guard let field, since() == nil else { return nil }
        guard let bound else {
            return sameName(field).map {
                "pull.since: { param: \"\($0)\", field: \(field.name) }, if it asks for all that changed since a time, "
                    + "which the document does not say"
            }
        }
        let reason =
            switch field.kind {
            case .simple("integer"): "\(field.name) is a number, which needs a form: see docs/schema/pull.md"
            case .simple("time") where !field.isOtherTime, .simple("string") where !field.isOtherTime:
                "the form in which it takes a time was not found"
            default: "\(field.name) is no time in ISO 8601, so change times cannot be compared"
            }
        guard bound.place != "header" else {
            return "pull.headers: { \(bound.name): \"{$since}\" }, with since: { field: \(field.name) }: \(reason)"
        }
        return "pull.since: { param: \"\(bound.name)\", field: \(field.name) }: \(reason)"
    }

    /// A parameter called like the change time, which may also ask for what changed just then.
    private func sameName(_ field: DraftField) -> String? {
        guard !RowFilters.has(list) else { return nil }
        return list.queries.first { parameter in
            Words.folded(parameter.name) == Words.folded(field.wireName) && parameter.shape.isTextOrNumber
        }?.name
    }

    private var bound: APIOperation.Parameter? {
        let bounds = list.queries.filter(Self.isBound)
        // Records that changed in the same moment come again.
        let inclusive = bounds.first { !Words.parts(of: $0.name).contains("gt") }
        return inclusive ?? bounds.first ?? list.header("If-Modified-Since")
    }

    /// In which form it takes a time: in a header that of HTTP, unless the document says or shows another one.
    private static func form(of parameter: APIOperation.Parameter) -> String? {
        guard parameter.place == "header" else { return TimeText.form(of: parameter) }
        return TimeText.form(of: parameter, usual: "http") ?? "http"
    }

    /// `updated_since`, `updated_at[gte]`, `filter[updated_after]`, `modified_since`; `since` alone where it is a time, as
    /// it may also be the key of a page.
    private static func isBound(_ parameter: APIOperation.Parameter) -> Bool {
        guard [.string, .integer, .unknown, .number].contains(parameter.shape.kind) else { return false }
        if Words.folded(parameter.name) == "since" { return parameter.shape.format?.hasPrefix("date") ?? false }
        let words = Words.parts(of: parameter.name)
        return words.contains(where: verbs.contains) && words.contains(where: bounds.contains)
    }

    private func fits(_ field: DraftField, _ form: String) -> Bool {
        switch field.kind {
        case .simple("time"), .simple("string"): !field.isOtherTime
        case .simple("integer"): form.hasPrefix("epoch")
        default: false
        }
    }
}
