// Not by `nil`: in a closure that returns an optional, such as that of `flatMap`, it would be taken for JSON's null.
extension JSONText: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension JSONText {
    package static let null = JSONText(trusted: Array("null".utf8)[...])

    package static func string(_ value: String) -> JSONText { JSONText(trusted: JSONEscapes.encode(value)[...]) }

    /// Appends the bytes of `string(value)`.
    package static func append(_ value: String, to bytes: inout [UInt8]) { JSONEscapes.append(value, to: &bytes) }

    /// The same for text in another's memory.
    package static func append(utf8 value: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        JSONEscapes.append(utf8: value, to: &bytes)
    }

    /// Whether a text needs no escapes, so that it only has to be put in quotes.
    package static func isPlain(utf8 value: UnsafeBufferPointer<UInt8>) -> Bool { JSONEscapes.isPlain(value) }

    package static func string(_ value: String?) -> JSONText { value.map { .string($0) } ?? .null }

    package static func integer(_ value: Int) -> JSONText { JSONText(trusted: Array(String(value).utf8)[...]) }

    package static func integer(_ value: Int?) -> JSONText { value.map { .integer($0) } ?? .null }

    /// A number with exactly `places` digits after its point: 12990 with two places is 129.90.
    package static func decimal(_ units: some FixedWidthInteger, places: Int) -> JSONText {
        guard places > 0 else { return JSONText(trusted: Array(String(units).utf8)[...]) }
        let digits = String(units.magnitude)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        let text = "\(units < 0 ? "-" : "")\(padded.dropLast(places)).\(padded.suffix(places))"
        return JSONText(trusted: Array(text.utf8)[...])
    }

    package static func boolean(_ value: Bool) -> JSONText {
        JSONText(trusted: Array((value ? "true" : "false").utf8)[...])
    }

    package static func array(_ elements: some Sequence<JSONText>) -> JSONText { array(Array(elements)) }

    // Not generic: other modules would call it through a table for each element.
    package static func array(_ elements: [JSONText]) -> JSONText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(elements.reduce(2) { $0 + $1.bytes.count + 1 })
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes += element.bytes
        }
        bytes.append(UInt8(ascii: "]"))
        return JSONText(trusted: bytes[...])
    }

    package static func array(of strings: [String]) -> JSONText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(strings.reduce(2) { $0 + $1.utf8.count + 3 })
        append(strings, to: &bytes)
        return JSONText(trusted: bytes[...])
    }

    /// Appends the bytes of `array(of: strings)`.
    package static func append(_ strings: [String], to bytes: inout [UInt8]) {
        var separator = UInt8(ascii: "[")
        for string in strings {
            bytes.append(separator)
            separator = UInt8(ascii: ",")
            JSONEscapes.append(string, to: &bytes)
        }
        if strings.isEmpty { bytes.append(separator) }
        bytes.append(UInt8(ascii: "]"))
    }

    package static func object(members: some Sequence<(key: String, value: JSONText)>) -> JSONText {
        object(members: Array(members))
    }

    // Not generic, as for arrays.
    package static func object(members: [(key: String, value: JSONText)]) -> JSONText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.reduce(2) { $0 + $1.key.utf8.count + $1.value.bytes.count + 4 })
        bytes.append(UInt8(ascii: "{"))
        for (key, value) in members {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONEscapes.append(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes += value.bytes
        }
        bytes.append(UInt8(ascii: "}"))
        return JSONText(trusted: bytes[...])
    }

    /// A literal in the order written, which a dictionary would not keep.
    package static func object(_ members: KeyValuePairs<String, JSONText>) -> JSONText { object(members: members) }

    /// This object with one member set: in place when the key exists (the last one of duplicates), else at the end. All
    /// else stays byte for byte.
    package func setting(_ key: String, to value: JSONText) -> JSONText {
        guard kind == .object else { return .object(members: [(key: key, value: value)]) }
        guard let place = place(of: key) else {
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count + key.utf8.count + value.bytes.count + 4)
            result += bytes
            Self.open(&result)
            Self.append(key, value, to: &result)
            result.append(UInt8(ascii: "}"))
            return JSONText(trusted: result[...])
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + value.bytes.count)
        result += bytes[..<place.lowerBound]
        result += value.bytes
        result += bytes[place.upperBound...]
        return JSONText(trusted: result[...])
    }

    /// This object with members before its own, which stay as they are. None of them may have these names.
    package func leading(_ members: [(key: String, value: JSONText)]) -> JSONText {
        guard kind == .object, !members.isEmpty else { return self }
        var result = Array(JSONText.object(members: members).bytes.dropLast())
        let rest = bytes.dropFirst()
        let isEmpty = rest.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } == UInt8(ascii: "}")
        if !isEmpty { result.append(UInt8(ascii: ",")) }
        result += rest
        return JSONText(trusted: result[...])
    }

    /// This object without the member; the same if it has none.
    package func without(_ key: String) -> JSONText {
        guard self[key] != nil else { return self }
        return .object(members: members.filter { $0.key != key })
    }

    /// Removes the end of an object's text, so that members can be appended.
    static func open(_ object: inout [UInt8]) {
        object.removeLast()
        while let last = object.last, [0x20, 0x0A, 0x0D, 0x09].contains(last) { object.removeLast() }
    }

    static func append(_ key: String, _ value: JSONText, to object: inout [UInt8]) {
        if object.last != UInt8(ascii: "{") { object.append(UInt8(ascii: ",")) }
        JSONEscapes.append(key, to: &object)
        object.append(UInt8(ascii: ":"))
        object += value.bytes
    }
}
