package import JSONText

/// What a server finds in a request for a list: the opposite of `PageRequest`.
extension ListCall {
    /// The values of the call's names (`since`, `cursor`, `delta`, …) in a request; nil for a request of another list.
    ///
    /// Times are in ISO 8601, whatever format they were sent in. Names without a value in the request are missing.
    /// `header` finds the value of a header by its name.
    package func values(
        in query: [QueryItem], header: (String) -> String?, body: JSONText?
    ) -> [String: JSONText]? {
        var reading = Reading()
        let sent =
            self.query.map { parameter in (parameter, query.first { $0.name == parameter.name }?.value) }
            + headers.map { ($0, header($0.name)) }
        for case (let parameter, let text?) in sent {
            guard reading.read(.string(text), as: parameter.value) else { return nil }
        }
        if let template = self.body {
            guard let body, reading.read(body, as: template) else { return nil }
        }
        return reading.values
    }

    fileprivate struct Reading {
        var values: [String: JSONText] = [:]

        mutating func read(_ json: JSONText, as template: JSONTemplate) -> Bool {
            switch template {
            case .constant(let constant): return constant.isEquivalent(to: json)
            case .text(let text): return read(json, as: text)
            case .list(let elements):
                // Those without a value were left out, and no one says which.
                guard json.kind == .array, json.elementCount == elements.count else { return json.kind == .array }
                for (element, json) in zip(elements, json.elements) where !read(json, as: element) { return false }
            case .object(let members):
                guard json.kind == .object else { return false }
                for member in members {
                    if let value = json[member.name] {
                        guard read(value, as: member.value) else { return false }
                    } else if member.value.placeholders.isEmpty {
                        return false
                    }
                }
            }
            return true
        }

        mutating func read(_ json: JSONText, as template: ValueTemplate) -> Bool {
            guard let found = template.values(in: json) else { return false }
            for placeholder in template.placeholders {
                guard case .value(let name) = placeholder.name, let value = found[placeholder.name] else { continue }
                values[name] = Self.plain(value, placeholder)
            }
            return true
        }

        private static func plain(_ value: JSONText, _ placeholder: ValueTemplate.Placeholder) -> JSONText {
            if placeholder.isQuoted { return (try? JSONText(parsing: value.plain)) ?? value }
            return placeholder.format?.time(value.plain).map { .string($0.description) } ?? value
        }
    }
}

extension SignInCall {
    /// The token that this body exchanges.
    package func refreshToken(in body: JSONText) -> String? {
        var reading = ListCall.Reading()
        return reading.read(body, as: self.body) ? reading.values[Self.refreshTokenName]?.plain : nil
    }
}

extension BodyTemplate {
    /// The values of a record's fields in a body of this form, and the key of a change; nil for another body.
    package func values(in body: JSONText) -> [String: JSONText]? {
        var values: [String: JSONText] = [:]
        return read(body, into: &values) ? values : nil
    }

    private func read(_ json: JSONText, into values: inout [String: JSONText]) -> Bool {
        switch self {
        case .fields: return true
        case .value(let name): values[name] = json
        case .key: values[Template.key] = json
        case .constant(let constant): return constant.isEquivalent(to: json)
        case .object(let members):
            for member in members where !member.isSpread {
                guard let value = json[member.name], member.value.read(value, into: &values) else { return false }
            }
        case .list(let elements):
            guard json.elementCount == elements.count else { return false }
            for (element, json) in zip(elements, json.elements) where !element.read(json, into: &values) {
                return false
            }
        }
        return true
    }
}
