package import JSONText

/// What a server finds in a batch: the opposite of filling a template.
extension BatchTemplate {
    package struct Reading: Sendable, Equatable {
        package var slots: [Slot: JSONText] = [:]
        package var values: [ValueTemplate.Name: JSONText] = [:]

        package init() {}
    }

    /// The values in a JSON text of this form; nil if it has another form.
    package func reading(of json: JSONText) -> Reading? {
        var reading = Reading()
        return read(json, into: &reading) ? reading : nil
    }

    private func read(_ json: JSONText, into reading: inout Reading) -> Bool {
        switch self {
        case .slot(let slot): reading.slots[slot] = json
        case .constant(let constant): return constant.isEquivalent(to: json)
        case .text(let template):
            guard let values = template.values(in: json) else { return false }
            reading.values.merge(values) { $1 }
        case .list(let elements):
            let given = json.elements
            guard json.kind == .array, given.count == elements.count else { return false }
            for (element, json) in zip(elements, given) where !element.read(json, into: &reading) { return false }
        case .object(let members): return read(json, of: members, into: &reading)
        }
        return true
    }

    private func read(_ json: JSONText, of members: [Member], into reading: inout Reading) -> Bool {
        guard json.kind == .object else { return false }
        let named = Set(members.map(\.name))
        for member in members {
            if member.isSpread {
                let others = json.members.filter { !named.contains($0.key) }
                guard member.value.read(.object(members: others), into: &reading) else { return false }
            } else if let value = json[member.name] {
                guard member.value.read(value, into: &reading) else { return false }
            } else if case .constant = member.value {
                return false
            }
        }
        return true
    }
}

extension ValueTemplate {
    /// The values of its names in a text that it was filled to; nil for another text. A value ends where the text after
    /// it first occurs.
    func values(in json: JSONText) -> [Name: JSONText]? {
        if case .placeholder(let placeholder)? = parts.first, parts.count == 1 { return [placeholder.name: json] }
        var values: [Name: JSONText] = [:]
        var rest = json.plain[...]
        var open: Name?
        for part in parts {
            switch part {
            case .placeholder(let placeholder): open = placeholder.name
            case .text(let text):
                guard let range = rest.firstRange(of: text) else { return nil }
                if let name = open {
                    values[name] = .string(String(rest[..<range.lowerBound]))
                } else if range.lowerBound != rest.startIndex {
                    return nil
                }
                open = nil
                rest = rest[range.upperBound...]
            }
        }
        if let open { values[open] = .string(String(rest)) } else if !rest.isEmpty { return nil }
        return values
    }
}
