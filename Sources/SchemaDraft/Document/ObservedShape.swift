internal import JSONText

/// Describes values that an API answered, as a document would: types, formats, members.
struct ObservedShape {
    /// The path of the list whose keys all of these texts are, if there is one.
    var reference: (_ name: String, _ values: [JSONText]) -> String? = { _, _ in nil }
    /// Whether the values are examples of a document, which counts more.
    var isExample = false

    private static let deepest = 12
    /// Of one object, and of the lists at one place together.
    private static let mostMembers = 1000
    private static let mostElements = 2000
    /// No field has a name of more bytes.
    private static let longestName = 200

    func schema(of values: [JSONText], name: String = "", depth: Int = 0) -> DocumentValue {
        let known = values.filter { $0.kind != .null }
        var members: [(name: String, value: DocumentValue)] = []
        if isExample { members.append((ExampleShape.mark, .scalar("true", isPlain: true))) }
        if isExample, known.isEmpty { members.append(("nullable", .scalar("true", isPlain: true))) }
        guard let first = known.first, depth < Self.deepest, known.allSatisfy({ $0.kind == first.kind }) else {
            return .object(DocumentObject(members))
        }
        func add(_ key: String, _ text: String) { members.append((key, .scalar(text, isPlain: false))) }
        switch first.kind {
        case .object:
            add("type", "object")
            members.append(("properties", .object(DocumentObject(properties(of: known, depth)))))
        case .array:
            add("type", "array")
            members.append(("items", schema(of: Self.elements(of: known), depth: depth + 1)))
        case .string:
            add("type", "string")
            // Some upstreams have "" for nothing.
            let texts = known.compactMap(\.string).filter { !$0.isEmpty }
            if let format = Self.format(of: texts) { add("format", format) }
            if let example = texts.first, !example.isLonger(thanScalars: 79) { add("example", example) }
            let seen = Self.seenValues(texts, name)
            if !seen.isEmpty { members.append(("enum", .array(seen.map { .scalar($0, isPlain: false) }))) }
        case .number: add("type", known.allSatisfy { $0.integer != nil } ? "integer" : "number")
        case .boolean: add("type", "boolean")
        case .null: break
        }
        if let path = reference(name, known) { add("x-refers-to", path) }
        return .object(DocumentObject(members))
    }

    private static func elements(of lists: [JSONText]) -> [JSONText] {
        var elements: [JSONText] = []
        for list in lists { elements += list.elements(atMost: mostElements - elements.count) }
        return elements
    }

    private func properties(of objects: [JSONText], _ depth: Int) -> [(name: String, value: DocumentValue)] {
        var names: [String] = []
        var values: [String: [JSONText]] = [:]
        for object in objects {
            for (name, value) in object.members(atMost: Self.mostMembers) where name.utf8.count <= Self.longestName {
                if values[name] == nil { names.append(name) }
                values[name, default: []].append(value)
            }
        }
        return names.map { ($0, schema(of: values[$0] ?? [], name: $0, depth: depth + 1)) }
    }

    private static func format(of texts: [String]) -> String? {
        func all(_ fits: (String) -> Bool) -> Bool { !texts.isEmpty && texts.allSatisfy(fits) }
        if all({ $0.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d.*/#) != nil }) { return "date-time" }
        if all({ $0.wholeMatch(of: #/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?/#) != nil }) {
            return "date-time"
        }
        if all({ $0.wholeMatch(of: #/\d{4}-\d\d-\d\d/#) != nil }) { return "date" }
        if all({ $0.wholeMatch(of: #/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/#) != nil }) { return "uuid" }
        if all({ $0.wholeMatch(of: #/-?\d{1,15}\.\d{2,4}/#) != nil }) { return "decimal" }
        return nil
    }

    /// A few short words that repeat, under a name that says that there are no others.
    private static func seenValues(_ texts: [String], _ name: String) -> [String] {
        guard ["status", "state", "kind", "type", "priority", "role", "stage"].contains(Words.lastWord(of: name)) else {
            return []
        }
        let seen = texts.reduce(into: [String]()) { if !$0.contains($1), $0.count < 13 { $0.append($1) } }
        let isEnum =
            texts.count >= 5 && (2...12).contains(seen.count) && seen.count * 2 <= texts.count
            && seen.allSatisfy { $0.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_-]{0,30}/#) != nil }
        return isEnum ? seen : []
    }
}
