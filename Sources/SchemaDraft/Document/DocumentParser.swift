internal import EntitySchema
internal import JSONText
internal import Yams

/// Reads JSON or YAML into `DocumentValue`, within bounds: a document comes from anywhere.
package struct DocumentParser {
    /// The largest document, in bytes.
    package static let largest = 64 << 20
    /// A document that expands to more values than this, by aliases of aliases, describes no API.
    static let mostValues = 2_000_000
    static let deepest = 500

    private var room = mostValues

    package static func value(of bytes: [UInt8]) throws(SchemaDraftError) -> DocumentValue {
        guard bytes.count <= largest else {
            throw .unreadable("it is larger than \(largest >> 20) MiB; leave out what need not be synced")
        }
        let bytes = inUTF8(bytes)
        guard MarkRun.areShort(inJSON: bytes[...], upTo: MarkRun.longestUpstream) else {
            throw .unreadable("a text in it has more than \(MarkRun.longestUpstream) combining marks in a row")
        }
        var parser = DocumentParser()
        let first = bytes.first { !" \n\r\t".utf8.contains($0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let json = try? JSONText(bytes) {
            return try parser.value(json, depth: 0)
        }
        return try parser.value(yaml: String(decoding: bytes, as: UTF8.self))
    }

    /// Without a byte order mark, and without UTF-16, in which some shells of Windows write what a program prints.
    private static func inUTF8(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private mutating func enter(_ depth: Int) throws(SchemaDraftError) {
        room -= 1
        guard room > 0 else { throw .unreadable("it has more than \(Self.mostValues) values; use fewer aliases") }
        guard depth < Self.deepest else {
            throw .unreadable("it is nested more than \(Self.deepest) levels deep, as no description of an API is")
        }
    }

    private mutating func value(_ json: JSONText, depth: Int) throws(SchemaDraftError) -> DocumentValue {
        try enter(depth)
        switch json.kind {
        case .object:
            var members: [(name: String, value: DocumentValue)] = []
            for (name, value) in json.members { members.append((name, try self.value(value, depth: depth + 1))) }
            return .object(DocumentObject(members))
        case .array:
            var elements: [DocumentValue] = []
            for element in json.elements { elements.append(try value(element, depth: depth + 1)) }
            return .array(elements)
        case .string: return .scalar(json.string ?? "", isPlain: false)
        case .number, .boolean, .null: return .scalar(json.text, isPlain: true)
        }
    }

    private mutating func value(yaml: String) throws(SchemaDraftError) -> DocumentValue {
        let node: Node?
        do {
            // Here keys count too.
            node = try YAMLDocument.root(of: yaml, limit: 2 * Self.mostValues)
        } catch {
            throw .unreadable("it is neither JSON nor YAML: \(error)")
        }
        guard let node else { throw .unreadable("it is empty") }
        return try value(node, depth: 0)
    }

    private mutating func value(_ node: Node, depth: Int) throws(SchemaDraftError) -> DocumentValue {
        try enter(depth)
        switch node {
        case .scalar(let scalar): return .scalar(scalar.string, isPlain: scalar.style == .plain)
        case .sequence(let sequence):
            var elements: [DocumentValue] = []
            for element in sequence { elements.append(try value(element, depth: depth + 1)) }
            return .array(elements)
        case .mapping(let mapping):
            var members: [(name: String, value: DocumentValue)] = []
            for (key, value) in mapping {
                members.append((key.scalar?.string ?? "", try self.value(value, depth: depth + 1)))
            }
            return .object(DocumentObject(members))
        // Yams has put the value in its place.
        case .alias: return .null
        }
    }
}
