internal import Glibc

/// One JSON value, kept as its original text.
///
/// Numbers, escapes, key order and duplicate keys stay byte for byte; accessors decode only what they return. The text
/// is validated once, when it is made from bytes, so every `JSONText` is valid. A byte order mark and `NaN` are refused:
/// `Upstream` takes them out of an answer first.
package struct JSONText: Sendable, Hashable {
    package enum Kind: Sendable, Equatable { case object, array, string, number, boolean, null }

    package let bytes: ArraySlice<UInt8>

    /// Throws when `bytes` is not exactly one JSON value with optional space around it.
    package init(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
        try self.init(bytes, unambiguous: false, atMost: .max)
    }

    /// Also throws when any object in it has two members of one name: readers differ in which one counts (RFC 8259, 4);
    /// and when it has more values than that, since each takes more memory than its text once it is looked at.
    package init(unambiguous bytes: [UInt8], atMost values: Int = .max) throws(JSONError) {
        try self.init(bytes[...], unambiguous: true, atMost: values)
    }

    package init(unambiguous bytes: ArraySlice<UInt8>, atMost values: Int = .max) throws(JSONError) {
        try self.init(bytes, unambiguous: true, atMost: values)
    }

    private init(_ bytes: ArraySlice<UInt8>, unambiguous: Bool, atMost values: Int) throws(JSONError) {
        let range = try Self.scan(bytes, unambiguous: unambiguous, atMost: values) { (scanner) throws(JSONError) in
            scanner.skipSpace()
            let start = scanner.at
            try scanner.skipValue()
            let end = scanner.at
            scanner.skipSpace()
            guard scanner.at == scanner.bytes.count else { throw scanner.error("text after the value") }
            return start..<end
        }
        self.bytes = bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)]
    }

    /// Also throws when it has more values than that.
    package init(_ bytes: ArraySlice<UInt8>, atMost values: Int) throws(JSONError) {
        try self.init(bytes, unambiguous: false, atMost: values)
    }

    package init(_ bytes: [UInt8]) throws(JSONError) { try self.init(bytes[...]) }

    /// Labelled, because `JSONText("…")` is the literal of a JSON string.
    package init(parsing text: String) throws(JSONError) { try self.init(Array(text.utf8)[...]) }

    init(trusted bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// For text that was validated before. Anything else yields wrong values, but never reads outside the text.
    package init(validated text: [UInt8]) { self.init(trusted: text[...]) }

    /// The value in this range of this text, as `JSONElementWalk` and `JSONMemberFinder` report it.
    package func part(_ range: Range<Int>) -> JSONText {
        JSONText(trusted: bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)])
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var kind: Kind {
        switch bytes.first {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        default: .number
        }
    }

    package static func == (one: JSONText, other: JSONText) -> Bool {
        one.bytes.count == other.bytes.count
            && one.bytes.withUnsafeBytes { one in
                other.bytes.withUnsafeBytes { other in
                    guard let one = one.baseAddress, let (other, count) = other.baseAddress.map({ ($0, other.count) })
                    else { return true }
                    return memcmp(one, other, count) == 0
                }
            }
    }

    package func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    static func scan<Result>(
        _ bytes: ArraySlice<UInt8>, unambiguous: Bool = false, atMost values: Int = .max, isChecked: Bool = false,
        _ body: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
            var scanner = JSONScanner(buffer, unambiguous: unambiguous, atMost: values, isChecked: isChecked)
            return try body(&scanner)
        }
    }
}

// MARK: - Looking inside

extension JSONText {
    /// The value of the first member of this name; nil when there is none or this is not an object.
    package subscript(key: String) -> JSONText? {
        var found: Range<Int>?
        forEachValue(of: key) { value in
            found = value
            return false
        }
        return found.map(part)
    }

    /// How many members of this name an object has; 0 for any other kind.
    package func count(of key: String) -> Int {
        var count = 0
        forEachValue(of: key) { _ in
            count += 1
            return true
        }
        return count
    }

    /// The members of an object in order, duplicate keys twice; empty for any other kind.
    package var members: [(key: String, value: JSONText)] {
        guard kind == .object else { return [] }
        var found: [(key: String, value: JSONText)] = []
        // Most edits have no more.
        found.reserveCapacity(4)
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = CheckedScanner(bytes, at: 1)
            while let (name, value) = scanner.nextMember() {
                found.append((CheckedJSON.text(bytes, name), part(value)))
            }
        }
        return found
    }

    /// The elements of an array in order; empty for any other kind.
    package var elements: [JSONText] {
        guard kind == .array else { return [] }
        var found: [JSONText] = []
        walk { (scanner) throws(JSONError) in
            try scanner.forEachElement { (scanner) throws(JSONError) in
                let start = scanner.at
                try scanner.skipValue()
                found.append(part(start..<scanner.at))
            }
        }
        return found
    }

    /// How many elements an array has; 0 for any other kind.
    package var elementCount: Int {
        guard kind == .array else { return 0 }
        var count = 0
        walk { (scanner) throws(JSONError) in
            try scanner.forEachElement { (scanner) throws(JSONError) in
                try scanner.skipValue()
                count += 1
            }
        }
        return count
    }

    /// Whether this value is a part of `outer` where its indices say, or is it. One that was put together from several
    /// parts, as by a place that goes through a list, has indices of its own.
    package func isPart(of outer: JSONText) -> Bool {
        let range = bytes.startIndex..<bytes.endIndex
        guard range.lowerBound >= outer.bytes.startIndex, range.upperBound <= outer.bytes.endIndex else { return false }
        // One storage is compared by its address alone.
        return outer.bytes[range] == bytes
    }

    /// A copy in which `array`, which was found inside this value or is it, is empty; this value if it is no part of it.
    package func leavingOut(elementsOf array: JSONText) -> JSONText {
        guard array.kind == .array, array.isPart(of: self) else { return self }
        let before = bytes[..<(array.bytes.startIndex + 1)]
        return JSONText(trusted: before + bytes[(array.bytes.endIndex - 1)...])
    }

    /// The decoded text of a string; nil for any other kind. A lone surrogate becomes U+FFFD.
    package var string: String? {
        guard kind == .string else { return nil }
        let inner = bytes.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        return JSONEscapes.decode(inner)
    }

    /// Whether this is a string that is no Unicode text: it escapes half of a surrogate pair, as in `"\ud800"`.
    package var hasLoneSurrogate: Bool {
        guard kind == .string, bytes.contains(UInt8(ascii: "\\")) else { return false }
        return JSONEscapes.hasLoneSurrogate(bytes.dropFirst().dropLast())
    }

    /// The value of a number without fraction or exponent that fits; nil for anything else.
    package var integer: Int? { kind == .number ? Int(text) : nil }

    /// A count, from 0: a number or, as some APIs write it, a number in quotes. Nil for anything else.
    package var wholeNumber: Int? {
        guard kind == .number || kind == .string, let number = Int(plain), number >= 0 else { return nil }
        return number
    }

    package var boolean: Bool? { kind == .boolean ? bytes.first == UInt8(ascii: "t") : nil }

    /// The text for a template or a table: a string without its quotes, null as nothing, any other value as its text.
    package var plain: String {
        switch kind {
        case .string: string ?? ""
        case .null: ""
        default: text
        }
    }

    /// Where the value of the last member of this name is in `bytes`; nil when there is none.
    func place(of key: String) -> Range<Int>? {
        var found: Range<Int>?
        forEachValue(of: key) { value in
            found = value
            return true
        }
        return found.map { (bytes.startIndex + $0.lowerBound)..<(bytes.startIndex + $0.upperBound) }
    }

    /// Calls `visit` with the range of the value of each member of this name, until it returns false.
    private func forEachValue(of key: String, _ visit: (Range<Int>) -> Bool) {
        guard kind == .object else { return }
        var key = key
        key.withUTF8 { key in
            bytes.withUnsafeBufferPointer { bytes in
                var scanner = CheckedScanner(bytes, at: 1)
                while let (name, value) = scanner.nextMember() {
                    if CheckedJSON.spells(bytes, name, key), !visit(value) { return }
                }
            }
        }
    }

    private func walk(_ body: (inout JSONScanner) throws(JSONError) -> Void) {
        // The text was validated when this value was made, so the scan cannot fail.
        try? Self.scan(bytes, isChecked: true, body)
    }
}
