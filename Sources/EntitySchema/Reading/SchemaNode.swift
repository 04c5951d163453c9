internal import Yams

/// One place in a schema file: its YAML node and the keys that lead there, so every error can name both.
struct SchemaNode {
    let file: String
    let node: Node
    let path: [String]
    /// The line of the key, from 1.
    let line: Int

    /// Throws when the text is not one YAML document.
    init(yaml: String, file: String) throws(SchemaError) {
        self.file = file
        self.path = []
        do {
            guard let node = try Yams.compose(yaml: yaml) else {
                throw SchemaError(file: file, line: 0, key: "", problem: "the file is empty; expected a schema")
            }
            self.node = node
            line = 1
        } catch let error as SchemaError {
            throw error
        } catch {
            throw SchemaError(file: file, line: Self.line(of: error), key: "", problem: "not YAML: \(error)")
        }
    }

    private init(file: String, node: Node, path: [String], line: Int?) {
        self.file = file
        self.node = node
        self.path = path
        self.line = line ?? 0
    }

    func error(_ problem: String) -> SchemaError {
        SchemaError(file: file, line: line, key: path.joined(separator: "."), problem: problem)
    }

    // MARK: Mappings

    /// Checks that this is a mapping with only `allowed` keys.
    func requireKeys(_ allowed: [String]) throws(SchemaError) {
        for (name, value) in try members() where !allowed.contains(name) {
            let near = Suggestion.nearest(to: name, among: allowed).map { "; did you mean \($0)?" } ?? "."
            throw value.error("unknown key \(name)\(near) Allowed here: \(allowed.joined(separator: ", "))")
        }
    }

    /// The members in the order of the file; each key is allowed once.
    func members() throws(SchemaError) -> [(name: String, value: SchemaNode)] {
        guard let mapping = node.mapping else { throw error("expected a mapping (key: value)") }
        var seen: Set<String> = []
        var found: [(name: String, value: SchemaNode)] = []
        for (key, value) in mapping {
            guard let name = key.string else { throw error("expected text as a key") }
            let child = SchemaNode(file: file, node: value, path: path + [name], line: key.mark?.line)
            guard seen.insert(name).inserted else { throw child.error("this key is used twice; remove one") }
            found.append((name, child))
        }
        return found
    }

    func child(_ name: String) -> SchemaNode? {
        guard let (key, value) = node.mapping?.first(where: { $0.key.string == name }) else { return nil }
        return SchemaNode(file: file, node: value, path: path + [name], line: key.mark?.line)
    }

    func required(_ name: String) throws(SchemaError) -> SchemaNode {
        guard let child = child(name) else { throw error("the key \(name) is missing; add it") }
        return child
    }

    // MARK: Values

    var isMapping: Bool { node.mapping != nil }
    var isSequence: Bool { node.sequence != nil }

    func elements() throws(SchemaError) -> [SchemaNode] {
        guard let sequence = node.sequence else { throw error("expected a list") }
        return sequence.enumerated().map {
            SchemaNode(file: file, node: $1, path: path + [String($0)], line: $1.mark?.line)
        }
    }

    func string() throws(SchemaError) -> String {
        guard let value = node.scalar?.string, !value.isEmpty else { throw error("expected text") }
        return value
    }

    func strings() throws(SchemaError) -> [String] {
        var values: [String] = []
        for element in try elements() { values.append(try element.string()) }
        return values
    }

    func boolean() throws(SchemaError) -> Bool {
        guard let value = node.bool else { throw error("expected true or false") }
        return value
    }

    func integer(in range: ClosedRange<Int>) throws(SchemaError) -> Int {
        guard let value = node.int, range.contains(value) else {
            throw error("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func duration() throws(SchemaError) -> Duration {
        guard let text = node.scalar?.string, let value = Duration(text: text) else {
            throw error("expected a duration such as 500ms, 30s, 15m or 24h")
        }
        return value
    }

    /// Text that is a valid name in SQL, JSON and URLs: a letter, then letters, digits or `_`.
    func identifier(_ name: String) throws(SchemaError) -> String {
        let allowed = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIILetter || $0.isASCIIDigit }
        guard allowed, name.utf8.first?.isASCIILetter == true, name.utf8.count <= 60 else {
            throw error("\(name) cannot be a name; expected a letter, then letters, digits or _, at most 60")
        }
        return name
    }

    private static func line(of error: any Error) -> Int {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: 0
        }
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
    fileprivate var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}

/// Why a schema file cannot be used: the place, the key, and what was expected there.
package struct SchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package var file: String
    /// From 1; 0 for the whole file.
    package var line: Int
    /// The path of keys to the place (`entities.orders.fields.status`); empty for the top level.
    package var key: String
    package var problem: String

    package var description: String {
        "\(file):\(line): \(key.isEmpty ? "" : "\(key): ")\(problem)"
    }
}
