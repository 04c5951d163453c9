extension JSONValue {
    /// The value as JSON, without spaces. What was read and not changed has the same numbers and the same order.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value of a JSON text.
    public init(parsing text: String) throws(JSONFailure) { try self.init(utf8: Array(text.utf8)) }

    /// The value of a JSON text in UTF-8.
    public init(utf8 bytes: [UInt8]) throws(JSONFailure) {
        var reader = JSONReader(bytes)
        self = try reader.document()
    }

    /// The value as JSON in UTF-8.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += Array("null".utf8)
        case .bool(let value): bytes += Array((value ? "true" : "false").utf8)
        case .number(let number): bytes += Array(number.text.utf8)
        case .string(let text): JSONEscapes.append(text, to: &bytes)
        case .brokenString(let json): bytes += Array(json.utf8)
        case .array(let elements): Self.append(elements, "[]", to: &bytes) { $0.append(to: &$1) }
        case .object(let object):
            Self.append(object.members, "{}", to: &bytes) {
                JSONEscapes.append($0.name, to: &$1)
                $1.append(UInt8(ascii: ":"))
                $0.value.append(to: &$1)
            }
        }
    }

    private static func append<Part>(
        _ parts: [Part], _ brackets: String, to bytes: inout [UInt8], _ one: (Part, inout [UInt8]) -> Void
    ) {
        bytes += Array(brackets.utf8.prefix(1))
        for (index, part) in parts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            one(part, &bytes)
        }
        bytes += Array(brackets.utf8.suffix(1))
    }
}
