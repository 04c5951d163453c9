/// What a template may name at a place of the schema.
struct TemplateNames {
    /// Values of the request, without the `$`: `since`, `page`, `cursor`, `token`, `account`.
    var values: Set<String> = []
    /// Values that have names of their own after a dot, without the `$`: `event` for `{$event.clientId}`.
    var groups: Set<String> = []
    /// Of values that could stand here, but for something that is missing: what that is.
    var needs: [String: String] = [:]
    var hasNow = false
    var hasSecrets = false
    /// Whether it may name fields; the entity's are checked where it is known.
    var hasFields = false

    /// `$since, $now-90d, {field}`: for messages.
    var examples: String {
        let known = values.sorted().map { "{$\($0)}" } + groups.sorted().map { "{$\($0).name}" }
        return
            (known + (hasNow ? ["{$now-90d}"] : []) + (hasSecrets ? ["{$secret.name}"] : [])
            + (hasFields ? ["{field}"] : [])).joined(separator: ", ")
    }

    fileprivate func allows(_ name: ValueTemplate.Name) -> Bool {
        switch name {
        case .value(let name):
            values.contains(name) || groups.contains { name.hasPrefix("\($0).") && name.count > $0.count + 1 }
        case .secret(let name): hasSecrets && !name.isEmpty
        case .now: hasNow
        case .field: hasFields
        }
    }
}

extension SchemaNode {
    /// A text that may name these values in braces.
    func valueTemplate(_ names: TemplateNames) throws(SchemaError) -> ValueTemplate {
        let text = try string()
        return try checked(text, ValueTemplate(text), names)
    }

    /// A text in which only `{$…}` names one of these values, and all other braces stand for themselves.
    func listTemplate(_ names: TemplateNames) throws(SchemaError) -> ValueTemplate {
        let text = try string()
        return try checked(text, ValueTemplate(values: text), names)
    }

    func checked(
        _ text: String, _ template: ValueTemplate?, _ names: TemplateNames
    ) throws(SchemaError) -> ValueTemplate {
        guard let template else {
            throw error(
                "\(text) is not a template; expected names in braces such as \(names.examples), with a format "
                    + "(\(TimeFormat.known), or quoted) after a colon if it needs one")
        }
        for placeholder in template.placeholders where !names.allows(placeholder.name) {
            let words = placeholder.source.split(separator: ":").first.map(String.init) ?? ""
            let need = names.needs[String(words.dropFirst())].map { ": \($0)" }
            let hint = need ?? Suggestion.hint(for: words, among: names.values.sorted().map { "$\($0)" })
            throw error("{\(placeholder.source)} cannot stand here\(hint); expected \(names.examples)")
        }
        for case .secret(let name) in template.placeholders.map(\.name) { try checkCredential(name) }
        return template
    }

    /// Throws if a stored credential cannot have this name.
    func checkCredential(_ name: String) throws(SchemaError) {
        guard ValueTemplate.isStoredName(name) else {
            throw error("$secret.\(name) names no credential; expected lower-case letters, digits or _")
        }
    }
}
