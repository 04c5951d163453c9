/// One place in a schema file: its YAML value and the keys that lead there, so every error can name both.
struct SchemaNode {
    /// The keys that lead to a place, from the last one to the first.
    private indirect enum Path {
        case root
        case key(String, in: Path)

        var keys: [String] {
            switch self {
            case .root: []
            case .key(let key, let path): path.keys + [key]
            }
        }
    }

    let file: String
    let value: YAMLValue
    private let path: Path
    /// The line of the key, from 1.
    let line: Int

    /// The file as it is written. Throws when the text is not one YAML document.
    init(yaml: String, file: String) throws(SchemaError) {
        self.file = file
        self.path = .root
        do {
            guard let value = try YAMLValue(parsing: yaml) else {
                throw SchemaError(file: file, line: 0, key: "", problem: "the file is empty; expected a schema")
            }
            self.value = value
            line = 1
        } catch let error as SchemaError {
            throw error
        } catch {
            let error = error as? YAMLError ?? YAMLError(problem: "\(error)")
            throw SchemaError(file: file, line: error.line ?? 0, key: "", problem: "not YAML: \(error.problem)")
        }
    }

    /// The whole file with the settings that it names. Throws when there is none of a name.
    func filled(with settings: [String: String]) throws(SchemaError) -> SchemaNode {
        let filled = try SettingFiller(file: file, settings: settings).filled(value)
        return SchemaNode(file: file, value: filled, path: path, line: line)
    }

    private init(file: String, value: YAMLValue, path: Path, line: Int?) {
        self.file = file
        self.value = value
        self.path = path
        self.line = line ?? 0
    }

    func error(_ problem: String) -> SchemaError {
        SchemaError(file: file, line: line, key: path.keys.joined(separator: "."), problem: problem)
    }

    /// Checks that an enum field may have these values; any other field may.
    func check(_ values: [String], for field: Field) throws(SchemaError) {
        guard let known = field.enumValues, let stray = values.first(where: { !known.contains($0) }) else { return }
        throw error("\(stray) is not a value of \(field.name)\(Suggestion.hint(for: stray, among: known))")
    }

    // MARK: Mappings

    /// Checks that this is a mapping with only `allowed` keys.
    func requireKeys(_ allowed: [String]) throws(SchemaError) {
        for (name, value) in try members() where !allowed.contains(name) {
            let near = Suggestion.hint(for: name, among: allowed, else: ".")
            throw value.error("unknown key \(name)\(near) Allowed here: \(allowed.joined(separator: ", "))")
        }
    }

    /// The members in the order of the file; each key is allowed once.
    func members() throws(SchemaError) -> [(name: String, value: SchemaNode)] {
        guard let pairs = value.members else { throw error("expected a mapping (key: value)") }
        var seen: Set<String> = []
        var found: [(name: String, value: SchemaNode)] = []
        for (key, value) in pairs {
            guard let name = key.text else { throw error("expected text as a key") }
            let child = SchemaNode(file: file, value: value, path: .key(name, in: path), line: key.line)
            guard seen.insert(name).inserted else { throw child.error("this key is used twice; remove one") }
            found.append((name, child))
        }
        return found
    }

    func child(_ name: String) -> SchemaNode? {
        guard let (key, value) = value.members?.first(where: { $0.key.text == name }) else { return nil }
        return SchemaNode(file: file, value: value, path: .key(name, in: path), line: key.line)
    }

    /// Nil if this is no list, or has fewer elements.
    func element(_ index: Int) -> SchemaNode? {
        guard let elements = value.elements, elements.indices.contains(index) else { return nil }
        return SchemaNode(
            file: file, value: elements[index], path: .key(String(index), in: path), line: elements[index].line)
    }

    func required(_ name: String) throws(SchemaError) -> SchemaNode {
        guard let child = child(name) else { throw error("the key \(name) is missing; add it") }
        return child
    }

    // MARK: Values

    var isMapping: Bool { value.members != nil }
    var isSequence: Bool { value.elements != nil }

    func elements() throws(SchemaError) -> [SchemaNode] {
        guard let elements = value.elements else { throw error("expected a list") }
        return elements.enumerated().map {
            SchemaNode(file: file, value: $1, path: .key(String($0), in: path), line: $1.line)
        }
    }

    /// The elements of a list, or this node alone if it is no list.
    func oneOrMore() throws(SchemaError) -> [SchemaNode] { isSequence ? try elements() : [self] }

    func string() throws(SchemaError) -> String {
        guard let value = value.text, !value.isEmpty else {
            throw error(isMapping ? "expected text; put quotes around one that begins with a brace" : "expected text")
        }
        return value
    }

    func strings() throws(SchemaError) -> [String] {
        var values: [String] = []
        for element in try elements() { values.append(try element.string()) }
        return values
    }

    /// One text, or a list of them.
    func texts() throws(SchemaError) -> [String] { isSequence ? try strings() : [try string()] }

    /// One of the words of this type.
    func word<Word: RawRepresentable<String> & CaseIterable>() throws(SchemaError) -> Word {
        let text = try string()
        let known = Word.allCases.map(\.rawValue)
        guard let word = Word(rawValue: text) else {
            let hint = Suggestion.hint(for: text, among: known)
            throw error("\(text) is not known here\(hint); expected one of \(known.joined(separator: ", "))")
        }
        return word
    }

    /// The boolean of a key; false without it.
    func flag(_ name: String) throws(SchemaError) -> Bool { try child(name)?.boolean() ?? false }

    func boolean() throws(SchemaError) -> Bool {
        guard let value = value.boolean else { throw error("expected true or false") }
        return value
    }

    func integer(in range: ClosedRange<Int>) throws(SchemaError) -> Int {
        guard let value = value.integer, range.contains(value) else {
            throw error("expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func duration() throws(SchemaError) -> Duration {
        guard let text = value.text, let value = Duration(text: text) else {
            throw error("expected a duration such as 500ms, 30s, 15m or 24h")
        }
        return value
    }

    /// Text that is a valid name in SQL, JSON and URLs: a letter, then letters, digits or `_`. Fields may begin with `_`.
    func identifier(_ name: String, mayBeginWithLine: Bool = false) throws(SchemaError) -> String {
        let allowed = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIILetter || $0.isASCIIDigit }
        let first = mayBeginWithLine ? name.utf8.first { $0 != UInt8(ascii: "_") } : name.utf8.first
        guard allowed, first.map({ $0.isASCIILetter || mayBeginWithLine }) == true, name.utf8.count <= 60,
            name.utf8.first?.isASCIIDigit != true
        else {
            throw error("\(name) cannot be a name; expected a letter, then letters, digits or _, at most 60")
        }
        return name
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

    package var description: String { "\(file):\(line): \(key.isEmpty ? "" : "\(key): ")\(problem)" }
}
