/// Walks over JSON in memory without building anything, and rejects everything that RFC 8259 does not allow.
///
/// Strict: it checks UTF-8, rejects control characters in strings, leading zeros, trailing commas and text after the
/// value, and limits nesting to `maximumDepth`, so hostile input costs neither stack nor memory.
struct JSONScanner {
    static let maximumDepth = 512

    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0
    /// Nil when an object may have two members of one name.
    private var names: MemberNames?
    private let mostValues: Int
    private var values = 0
    /// The text has been validated: the scanner only looks for the ends of its values.
    private let isChecked: Bool

    init(
        _ bytes: UnsafeBufferPointer<UInt8>, unambiguous: Bool = false, atMost mostValues: Int = .max,
        isChecked: Bool = false
    ) {
        self.bytes = bytes
        self.isChecked = isChecked
        self.mostValues = mostValues
        names = unambiguous ? MemberNames() : nil
    }

    /// The byte at the cursor; 0, which is never valid outside a string, at the end.
    var current: UInt8 { at < bytes.count ? bytes[at] : 0 }

    mutating func skipSpace() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at += 1
            default: return
            }
        }
    }

    /// Moves past one value of any kind, from its first byte.
    mutating func skipValue(depth: Int = 0) throws(JSONError) {
        guard !isChecked else { return skipCheckedValue() }
        guard depth <= Self.maximumDepth else { throw error("nesting deeper than \(Self.maximumDepth) levels") }
        values += 1
        guard values <= mostValues else { throw error("more than \(mostValues) values") }
        switch current {
        case UInt8(ascii: "{"): try skipObject(depth: depth)
        case UInt8(ascii: "["):
            try forEachElement { (scanner) throws(JSONError) in try scanner.skipValue(depth: depth + 1) }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: try skipNumber()
        }
    }

    private mutating func skipObject(depth: Int) throws(JSONError) {
        guard var object = names?.begin() else {
            return try forEachMember { (scanner, _) throws(JSONError) in try scanner.skipValue(depth: depth + 1) }
        }
        try forEachMember { (scanner, name) throws(JSONError) in
            guard scanner.names?.insert(name, of: scanner.bytes, in: &object) == true else {
                let text = String(decoding: scanner.bytes[name].prefix(60), as: UTF8.self)
                throw JSONError(
                    problem: "a second member \(text) in one object", offset: name.lowerBound,
                    bareProblem: "a second member … in one object")
            }
            try scanner.skipValue(depth: depth + 1)
        }
        names?.end(object)
    }

    /// Visits the members of an object. `visit` gets the key's range with its quotes and must move past the value.
    mutating func forEachMember(
        _ visit: (inout JSONScanner, Range<Int>) throws(JSONError) -> Void
    ) throws(JSONError) {
        try expect(UInt8(ascii: "{"))
        skipSpace()
        if current == UInt8(ascii: "}") { return at += 1 }
        while true {
            skipSpace()
            let start = at
            try skipString()
            let key = start..<at
            skipSpace()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            try visit(&self, key)
            skipSpace()
            if current == UInt8(ascii: "}") { return at += 1 }
            try expect(UInt8(ascii: ","))
        }
    }

    /// Visits the elements of an array; `visit` must move past the element.
    mutating func forEachElement(_ visit: (inout JSONScanner) throws(JSONError) -> Void) throws(JSONError) {
        try expect(UInt8(ascii: "["))
        skipSpace()
        if current == UInt8(ascii: "]") { return at += 1 }
        while true {
            skipSpace()
            try visit(&self)
            skipSpace()
            if current == UInt8(ascii: "]") { return at += 1 }
            try expect(UInt8(ascii: ","))
        }
    }

    mutating func skipString() throws(JSONError) {
        guard !isChecked else { return skipCheckedString() }
        try expect(UInt8(ascii: "\""))
        skipPlainText()
        while at < bytes.count {
            if try skipCharacter() { return }
        }
        throw error("the text ends inside a string")
    }

    /// Moves past one character of a string, or its closing quote; returns whether it was that.
    @inline(__always)
    mutating func skipCharacter() throws(JSONError) -> Bool {
        switch bytes[at] {
        case UInt8(ascii: "\""):
            at += 1
            return true
        case UInt8(ascii: "\\"): try skipEscape()
        case 0..<0x20: throw error("a control character in a string")
        case 0x20..<0x80: at += 1
        default: try skipMultibyte()
        }
        return false
    }

    /// Skips eight bytes at a time while they are ASCII without quotes, escapes and control characters, as in most
    /// text.
    private mutating func skipPlainText() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones &* 0x80
        while at + 8 <= bytes.count, let base = bytes.baseAddress {
            let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
            let (quotes, escapes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
            // A byte's high bit is set when the byte is zero, below 0x20, or beyond ASCII.
            let ends =
                (quotes &- ones) & ~quotes | (escapes &- ones) & ~escapes | (word &- (ones &* 0x20)) & ~word | word
            if ends & highBits != 0 { return }
            at += 8
        }
    }

    func error(_ problem: String) -> JSONError { JSONError(problem: problem, offset: at) }

    @inline(__always)
    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard at < bytes.count, bytes[at] == byte else { throw unexpected(insteadOf: byte) }
        at += 1
    }

    @inline(never)
    private func unexpected(insteadOf byte: UInt8) -> JSONError {
        guard at < bytes.count else { return error("the text ends too early") }
        // A member's name stands after a comma.
        if byte == UInt8(ascii: "\""), bytes[at] == UInt8(ascii: "}") { return error("a comma before }") }
        return error("expected \(Character(Unicode.Scalar(byte))), found \(Character(Unicode.Scalar(bytes[at])))")
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(JSONError) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard at < bytes.count, bytes[at] == literal.utf8Start[index] else { throw error("not a JSON value") }
            at += 1
        }
    }

    private mutating func skipEscape() throws(JSONError) {
        at += 1
        switch current {
        case UInt8(ascii: "u"):
            at += 1
            for _ in 0..<4 {
                guard Character(Unicode.Scalar(current)).isHexDigit else { throw error("a broken \\u escape") }
                at += 1
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            at += 1
        default: throw error("an unknown escape in a string")
        }
    }

    /// One well-formed UTF-8 sequence beyond ASCII (Unicode 16, table 3-7).
    private mutating func skipMultibyte() throws(JSONError) {
        let lead = bytes[at]
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw error("a byte that is not UTF-8")
        }
        guard at + length <= bytes.count, second.contains(bytes[at + 1]) else { throw error("broken UTF-8") }
        for index in 2..<max(length, 2) where bytes[at + index] & 0xC0 != 0x80 { throw error("broken UTF-8") }
        at += length
    }

    private mutating func skipNumber() throws(JSONError) {
        let start = at
        if current == UInt8(ascii: "-") { at += 1 }
        let firstDigit = at
        guard skipDigits() > 0 else {
            at = start
            throw error(start < bytes.count ? "not a JSON value" : "the text ends too early")
        }
        if bytes[firstDigit] == UInt8(ascii: "0"), at - firstDigit > 1 { throw error("a number with a leading zero") }
        if current == UInt8(ascii: ".") {
            at += 1
            guard skipDigits() > 0 else { throw error("a number without digits after its point") }
        }
        if current | 0x20 == UInt8(ascii: "e") {
            at += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { at += 1 }
            guard skipDigits() > 0 else { throw error("a number without digits in its exponent") }
        }
    }

    private mutating func skipDigits() -> Int {
        let start = at
        while at < bytes.count, bytes[at] &- 0x30 < 10 { at += 1 }
        return at - start
    }
}

/// Text that is not JSON: the problem, and its byte offset.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    package var problem: String
    package var offset: Int
    /// `problem` without the name that it repeats of the text; nil if it repeats none.
    var bareProblem: String?

    package var description: String { "not JSON: \(problem) at byte \(offset)" }

    /// The same for a text that nothing may repeat.
    package var withoutQuote: JSONError { bareProblem.map { JSONError(problem: $0, offset: offset) } ?? self }
}
