import JSONText

/// What a later OpenAPI document breaks of an earlier one, for a client that was generated from the earlier one.
///
/// The rules are those of docs/api-stability.md. Only what the documents of this API have is compared.
struct DescriptionComparison {
    let old: JSONText
    let new: JSONText

    /// One line for each break, such as `GET /v1/orders: parameter sort was removed`; empty if there is none.
    var breaks: [String] {
        (old["paths"]?.members ?? []).flatMap { path, calls -> [String] in
            guard let now = new["paths"]?[path] else { return ["\(path): the path was removed"] }
            return calls.members.flatMap { method, call -> [String] in
                let place = "\(method.uppercased()) \(path)"
                guard let other = now[method] else { return ["\(place): the call was removed"] }
                return breaks(call, other).map { "\(place): \($0)" }
            }
        }
    }

    private func breaks(_ old: JSONText, _ new: JSONText) -> [String] {
        var found: [String] = []
        if old["operationId"] != new["operationId"] { found.append("the operation id was changed") }
        return found + parameterBreaks(old, new) + bodyBreaks(old, new) + answerBreaks(old, new)
    }

    // MARK: Parameters

    private func parameterBreaks(_ old: JSONText, _ new: JSONText) -> [String] {
        let before = parameters(of: old, in: self.old), after = parameters(of: new, in: self.new)
        let removed = before.flatMap { name, parameter -> [String] in
            guard let other = after[name] else { return ["parameter \(name) was removed"] }
            let required = other["required"] == true && parameter["required"] != true
            return (required ? ["parameter \(name) became required"] : [])
                + accepted(parameter["schema"], other["schema"]).map { "parameter \(name)\($0)" }
        }
        let added = after.filter { before[$0.key] == nil && $0.value["required"] == true }
        return (removed + added.keys.map { "parameter \($0) is new and required" }).sorted()
    }

    /// By place and name.
    private func parameters(of call: JSONText, in document: JSONText) -> [String: JSONText] {
        var all: [String: JSONText] = [:]
        for parameter in (call["parameters"]?.elements ?? []).map({ resolved($0, document) }) {
            all["\(parameter["name"]?.plain ?? "") in \(parameter["in"]?.plain ?? "")"] = parameter
        }
        return all
    }

    // MARK: Bodies and answers

    private func bodyBreaks(_ old: JSONText, _ new: JSONText) -> [String] {
        guard let body = new["requestBody"] else { return old["requestBody"] == nil ? [] : ["the body was removed"] }
        guard let before = old["requestBody"] else { return body["required"] == true ? ["a body is required now"] : [] }
        let required = body["required"] == true && before["required"] != true
        return (required ? ["the body became required"] : [])
            + (before["content"]?.members ?? []).flatMap { type, content -> [String] in
                guard let other = body["content"]?[type] else { return ["the body cannot be \(type) any more"] }
                return accepted(content["schema"], other["schema"]).map { "body\($0)" }
            }
    }

    private func answerBreaks(_ old: JSONText, _ new: JSONText) -> [String] {
        (old["responses"]?.members ?? []).flatMap { status, response -> [String] in
            guard let other = new["responses"]?[status] else { return ["answer \(status) was removed"] }
            let (before, after) = (resolved(response, self.old), resolved(other, self.new))
            let headers = (before["headers"]?.members ?? []).compactMap { name, header -> String? in
                guard let now = after["headers"]?[name] else { return "answer \(status): header \(name) was removed" }
                let wasSure = resolved(header, self.old)["required"] == true
                return wasSure && resolved(now, self.new)["required"] != true
                    ? "answer \(status): header \(name) may be missing now" : nil
            }
            let contents = (before["content"]?.members ?? []).flatMap { type, content -> [String] in
                guard let now = after["content"]?[type] else { return ["answer \(status): \(type) was removed"] }
                return served(content["schema"], now["schema"]).map { "answer \(status)\($0)" }
            }
            return headers + contents
        }
    }

    // MARK: Schemas

    /// What a client may send by the old schema and not by the new one.
    private func accepted(_ old: JSONText?, _ new: JSONText?, _ depth: Int = 0) -> [String] {
        guard let old, let new, depth < 8 else { return [] }
        let (before, after) = (resolved(old, self.old), resolved(new, self.new))
        var found: [String] = []
        if let types = types(after), !(self.types(before)?.isSubset(of: types) ?? false) {
            found.append(": the type was narrowed")
        }
        if let values = after["enum"]?.elements {
            let lost = (before["enum"]?.elements ?? [.null]).filter { !values.contains($0) }
            if before["enum"] == nil || !lost.isEmpty { found.append(": values were removed") }
        }
        found += bounds(before, after)
        let required = Set(after["required"]?.elements.map(\.plain) ?? [])
        found += required.subtracting(before["required"]?.elements.map(\.plain) ?? []).sorted().map {
            ".\($0) became required"
        }
        found += (before["properties"]?.members ?? []).flatMap { name, property -> [String] in
            guard let other = after["properties"]?[name] else {
                return after["additionalProperties"] == false ? [".\(name) was removed"] : []
            }
            return accepted(property, other, depth + 1).map { ".\(name)\($0)" }
        }
        return found + accepted(before["items"], after["items"], depth + 1).map { "[]\($0)" }
    }

    /// What a client may rely on in an answer by the old schema and not by the new one.
    private func served(_ old: JSONText?, _ new: JSONText?, _ depth: Int = 0) -> [String] {
        guard let old, let new, depth < 8 else { return [] }
        let (before, after) = (resolved(old, self.old), resolved(new, self.new))
        var found: [String] = []
        if let types = types(before), !(self.types(after)?.isSubset(of: types) ?? false) {
            found.append(": the type was changed")
        }
        let kept = Set(after["required"]?.elements.map(\.plain) ?? [])
        found += Set(before["required"]?.elements.map(\.plain) ?? []).subtracting(kept).sorted().map {
            ".\($0) may be missing now"
        }
        found += (before["properties"]?.members ?? []).flatMap { name, property -> [String] in
            guard let other = after["properties"]?[name] else { return [".\(name) was removed"] }
            return served(property, other, depth + 1).map { ".\(name)\($0)" }
        }
        for (one, other) in zip(before["anyOf"]?.elements ?? [], after["anyOf"]?.elements ?? []) {
            found += served(one, other, depth + 1)
        }
        return found + served(before["items"], after["items"], depth + 1).map { "[]\($0)" }
    }

    private func bounds(_ before: JSONText, _ after: JSONText) -> [String] {
        var found: [String] = []
        for name in ["minimum", "minLength", "minItems"] {
            if let now = after[name]?.integer, now > before[name]?.integer ?? .min {
                found.append(": \(name) was raised")
            }
        }
        for name in ["maximum", "maxLength", "maxItems"] {
            if let now = after[name]?.integer, now < before[name]?.integer ?? .max {
                found.append(": \(name) was lowered")
            }
        }
        if let pattern = after["pattern"], pattern != before["pattern"] { found.append(": the pattern was changed") }
        return found
    }

    /// Nil for any type.
    private func types(_ schema: JSONText) -> Set<String>? {
        guard let type = schema["type"] else { return nil }
        var types = Set(type.kind == .array ? type.elements.map(\.plain) : [type.plain])
        // A whole number is a number.
        if types.contains("number") { types.insert("integer") }
        return types
    }

    private func resolved(_ value: JSONText, _ document: JSONText) -> JSONText {
        guard let reference = value["$ref"]?.string else { return value }
        let target = reference.split(separator: "/").dropFirst().reduce(document) { place, name in
            place[String(name)] ?? .null
        }
        return target
    }
}
