import JSONText

/// JSON as `jsonb` takes it: what that cannot hold is replaced, all else stays byte for byte.
///
/// `\u0000` and halves of surrogate pairs become U+FFFD. A number of more than 1000 digits, or with an exponent beyond ±1000,
/// becomes a text.
struct PostgresJSON {
    private let source: [UInt8]
    private var output: [UInt8] = []
    private var at = 0

    static func bytes(of value: JSONText) -> [UInt8] {
        var writer = PostgresJSON(source: Array(value.bytes))
        writer.output.reserveCapacity(writer.source.count)
        writer.copy()
        return writer.output
    }

    /// Whether `numeric` can hold a JSON number.
    static func isWritable(number: some Collection<UInt8>) -> Bool {
        guard number.count <= 1000 else { return false }
        guard let mark = number.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return true }
        let exponent = number[number.index(after: mark)...].drop { $0 == UInt8(ascii: "+") }
        return Int(String(decoding: exponent, as: UTF8.self)).map { (-1000...1000).contains($0) } ?? false
    }

    private init(source: [UInt8]) { self.source = source }

    private mutating func copy() {
        while at < source.count {
            switch source[at] {
            case UInt8(ascii: "\""): copyString()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): copyNumber()
            default: copy(1)
            }
        }
    }

    private mutating func copy(_ count: Int) {
        let end = min(at + count, source.count)
        output += source[at..<end]
        at = end
    }

    private mutating func copyString() {
        copy(1)
        while at < source.count {
            switch source[at] {
            case UInt8(ascii: "\""): return copy(1)
            case UInt8(ascii: "\\"): copyEscape()
            default: copy(1)
            }
        }
    }

    private mutating func copyEscape() {
        guard let unit = unit(at: at) else { return copy(2) }
        if UTF16.isLeadSurrogate(unit), let next = self.unit(at: at + 6), UTF16.isTrailSurrogate(next) {
            return copy(12)
        }
        guard unit == 0 || UTF16.isLeadSurrogate(unit) || UTF16.isTrailSurrogate(unit) else { return copy(6) }
        output += Array("\\ufffd".utf8)
        at += 6
    }

    /// The number of the escape `\uXXXX` there; nil if there is none.
    private func unit(at start: Int) -> UInt16? {
        guard start + 6 <= source.count, source[start] == UInt8(ascii: "\\"), source[start + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: source[(start + 2)..<(start + 6)], as: UTF8.self), radix: 16)
    }

    private mutating func copyNumber() {
        let parts = Set("+-.eE0123456789".utf8)
        let end = source[at...].firstIndex { !parts.contains($0) } ?? source.count
        let isWritable = Self.isWritable(number: source[at..<end])
        if !isWritable { output.append(UInt8(ascii: "\"")) }
        copy(end - at)
        if !isWritable { output.append(UInt8(ascii: "\"")) }
    }
}
