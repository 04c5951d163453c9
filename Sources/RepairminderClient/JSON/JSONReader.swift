/// Reads JSON (RFC 8259) without losing anything: numbers stay text.
struct JSONReader {
    /// The daemon accepts and sends no deeper nesting.
    private static let deepest = 512

    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The one value of the whole text.
    mutating func document() throws(JSONFailure) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard offset == bytes.count else { throw failure("expected the end") }
        return value
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONFailure) -> JSONValue {
        guard depth <= Self.deepest else { throw failure("nested too deep") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(JSONFailure) -> JSONValue {
        offset += 1
        var members: [JSONObject.Member] = []
        skipSpace()
        if take("}") { return .object(JSONObject()) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw failure("expected a name") }
            guard case .string(let name) = try string() else { throw failure("a name that is not text") }
            skipSpace()
            guard take(":") else { throw failure("expected a colon") }
            members.append(JSONObject.Member(name: name, value: try value(depth: depth + 1)))
            skipSpace()
        } while take(",")
        guard take("}") else { throw failure("expected } or a comma") }
        return .object(JSONObject(read: members))
    }

    private mutating func array(depth: Int) throws(JSONFailure) -> JSONValue {
        offset += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array([]) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(",")
        guard take("]") else { throw failure("expected ] or a comma") }
        return .array(elements)
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(JSONFailure) -> JSONValue {
        guard bytes[offset...].starts(with: text.utf8) else { throw failure("expected a value") }
        offset += text.utf8.count
        return value
    }

    private mutating func number() throws(JSONFailure) -> JSONNumber {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("-") { _ = take("+") }
            try digits()
        }
        return JSONNumber(checked: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    private mutating func digits() throws(JSONFailure) {
        let start = offset
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw failure("expected a value") }
    }

    // MARK: Text

    private mutating func string() throws(JSONFailure) -> JSONValue {
        let start = offset
        offset += 1
        var hasEscapes = false
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                let literal = bytes[start..<offset]
                if hasEscapes { return try unescaped(literal) }
                guard let text = String(validating: literal.dropFirst().dropLast(), as: UTF8.self) else {
                    throw failure("text that is not UTF-8")
                }
                return .string(text)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                offset += 2
            case ..<0x20: throw failure("a control character in text")
            default: offset += 1
            }
        }
        throw failure("text without its end")
    }

    private func unescaped(_ literal: ArraySlice<UInt8>) throws(JSONFailure) -> JSONValue {
        do throws(JSONEscapes.Failure) {
            guard let text = try JSONEscapes.text(of: literal.dropFirst().dropLast()) else {
                return .brokenString(json: String(decoding: literal, as: UTF8.self))
            }
            return .string(text)
        } catch {
            throw failure("text with an unknown escape, or not in UTF-8")
        }
    }

    // MARK: Characters

    private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private func failure(_ message: String) -> JSONFailure { JSONFailure(message: message, offset: offset) }
}

/// Why a text is not JSON, and where.
public struct JSONFailure: Error, Sendable, Hashable {
    /// What is wrong.
    public let message: String
    /// The byte where it is.
    public let offset: Int
}
