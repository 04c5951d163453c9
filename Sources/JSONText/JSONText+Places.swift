/// Finds values by places: names separated by dots.
extension JSONText {
    /// Follows names separated by dots (`data.pagination.total`); the empty path is the value itself.
    ///
    /// In a list, a number names an element (`items.0.id`, `items.-1.id` for the last), `rel=next` the first one whose
    /// member has that value, and `*` all of them (`lines.*.id` is a list). A name with a dot stands in quotes:
    /// `value."@odata.id"`.
    package func at(path: String) -> JSONText? { follow(JSONPath.steps(path)[...]) }

    private func follow(_ steps: ArraySlice<Substring>) -> JSONText? {
        var value = self
        for (place, step) in zip(steps.indices, steps) {
            guard value.kind == .array else {
                guard let member = value[String(step)] else { return nil }
                value = member
                continue
            }
            guard step != "*" else {
                let rest = steps[(place + 1)...]
                return .some(.array(value.elements.compactMap { $0.follow(rest) }))
            }
            guard let element = value.element(step) else { return nil }
            value = element
        }
        return value
    }

    /// The element with this number, counted from 0, or from the end if it is negative; or the first one whose member has
    /// this value (`rel=next`).
    private func element(_ step: Substring) -> JSONText? {
        let elements = elements
        return Self.index(step, in: elements).map { elements[$0] }
    }

    private static func index(_ step: Substring, in elements: [JSONText]) -> Int? {
        if let number = Int(step) {
            let index = number < 0 ? elements.count + number : number
            return elements.indices.contains(index) ? index : nil
        }
        guard let sign = step.firstIndex(of: "=") else { return nil }
        let (name, value) = (String(step[..<sign]), String(step[step.index(after: sign)...]))
        return elements.firstIndex { $0[name]?.plain == value }
    }

    /// This value with another one at a place. Missing objects on the way are created. Nil if the place is in all
    /// elements of a list, in an element that does not exist, or inside a value that has no members.
    package func setting(_ value: JSONText, at path: String) -> JSONText? { setting(value, JSONPath.steps(path)[...]) }

    private func setting(_ value: JSONText, _ steps: ArraySlice<Substring>) -> JSONText? {
        guard let step = steps.first else { return value }
        let rest = steps.dropFirst()
        switch kind {
        case .array:
            var elements = elements
            guard let index = Self.index(step, in: elements), let set = elements[index].setting(value, rest) else {
                return .none
            }
            elements[index] = set
            return .some(.array(elements))
        case .object:
            let name = String(step)
            return (self[name] ?? .null).setting(value, rest).map { setting(name, to: $0) }
        case .null where step != "*" && Int(step) == nil && !step.contains("="):
            return JSONText.null.setting(value, rest).map { JSONText.object(members: [(String(step), $0)]) }
        default: return .none
        }
    }
}

/// The notation of places.
package enum JSONPath {
    /// The names in a path, without quotes.
    package static func steps(_ path: String) -> [Substring] {
        guard path.utf8.contains(UInt8(ascii: "\"")) else { return path.split(separator: ".") }
        var steps: [Substring] = []
        var rest = path[...]
        while !rest.isEmpty {
            guard rest.first == "\"", let close = rest.dropFirst().firstIndex(of: "\"") else {
                let end = rest.firstIndex(of: ".") ?? rest.endIndex
                if end > rest.startIndex { steps.append(rest[..<end]) }
                rest = rest[end...].dropFirst()
                continue
            }
            steps.append(rest[..<close].dropFirst())
            rest = rest[close...].dropFirst()
            if rest.first == "." { rest = rest.dropFirst() }
        }
        return steps
    }

    /// Whether every quote is closed, around a name and with a dot on both sides.
    package static func isValid(_ path: String) -> Bool {
        path.utf8.contains(UInt8(ascii: "\""))
            ? path.wholeMatch(of: #/(?:"[^"]+"|[^".]+)(?:\.(?:"[^"]+"|[^".]+))*/#) != nil : true
    }

    /// Whether a step names all elements of a list.
    package static func isThroughList(_ path: String) -> Bool { steps(path).contains("*") }
}
