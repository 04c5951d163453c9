internal import JSONText

/// Writes JSON into one array, member by member.
///
/// `JSONText.object` is simpler to use, but copies each value once for each level around it.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// The written text; call this once it is a whole value.
    var text: JSONText { JSONText(validated: bytes) }

    // MARK: Values

    /// `write` writes the members.
    mutating func object(_ write: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "{"))
        write(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    mutating func value(_ text: String?) {
        guard let text else { return null() }
        separate()
        JSONText.append(text, to: &bytes)
    }

    /// A text.
    mutating func value(utf8 text: [UInt8]) {
        separate()
        text.withUnsafeBufferPointer { JSONText.append(utf8: $0, to: &bytes) }
    }

    mutating func value(_ number: Int?) {
        guard let number else { return null() }
        separate()
        bytes += String(number).utf8
    }

    mutating func value(_ isTrue: Bool) { append(isTrue ? "true" : "false") }

    mutating func value(_ json: JSONText) {
        separate()
        bytes += json.bytes
    }

    mutating func null() { append("null") }

    // MARK: Members

    /// Writes a member's name, which must need no escapes. Write its value next.
    mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// The same for any name.
    mutating func name(_ name: String) {
        separate()
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func member(_ name: StaticString, _ text: String?) {
        self.name(name)
        value(text)
    }

    mutating func member(_ name: StaticString, _ number: Int?) {
        self.name(name)
        value(number)
    }

    mutating func member(_ name: StaticString, _ isTrue: Bool) {
        self.name(name)
        value(isTrue)
    }

    mutating func member(_ name: StaticString, _ json: JSONText) {
        self.name(name)
        value(json)
    }

    // MARK: Parts

    /// Writes a comma if the next item needs one before it. No value ends with the bytes below.
    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: ":"): break
        default: bytes.append(UInt8(ascii: ","))
        }
    }

    private mutating func append(_ word: StaticString) {
        separate()
        bytes += UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    }
}
