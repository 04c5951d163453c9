internal import EntitySchema
internal import JSONText

/// A record that can be parsed without SQLite: no whitespace between its parts, no escapes in its key and change time.
struct PlainRecord {
    let text: Range<Int>
    /// Without quotes.
    let key: Range<Int>
    /// Without quotes; empty when there is none.
    let changed: Range<Int>
    /// The server marks it as deleted.
    let isDeleted: Bool

    /// Reads the walk's current element, with the key, the deletion mark and the change time as its members. Nil for
    /// one in another notation.
    init?(_ walk: borrowing JSONElementWalk, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard walk.isCompact, let key = Self.key(walk.values[0], bytes),
            let changed = Self.changed(walk.values[2], bytes)
        else { return nil }
        text = walk.element
        self.key = key
        self.changed = changed
        let mark = bytes[walk.values[1]]
        isDeleted = !mark.isEmpty && !mark.elementsEqual("null".utf8) && !mark.elementsEqual("false".utf8)
    }

    private static func key(_ value: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard let first = value.first else { return nil }
        if bytes[first] == UInt8(ascii: "\"") {
            let inner = (first + 1)..<(value.upperBound - 1)
            return !inner.isEmpty && inner.count <= Entity.longestKey && !hasEscape(inner, bytes) ? inner : nil
        }
        // Eighteen digits are a whole number to SQLite too.
        let isWhole = bytes[value].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isWhole && value.count <= 18 ? value : nil
    }

    private static func changed(_ value: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard let first = value.first, !bytes[value].elementsEqual("null".utf8) else { return 0..<0 }
        let inner = (first + 1)..<max(first + 1, value.upperBound - 1)
        return bytes[first] == UInt8(ascii: "\"") && !inner.isEmpty && !hasEscape(inner, bytes) ? inner : nil
    }

    private static func hasEscape(_ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes[range].contains(UInt8(ascii: "\\"))
    }
}
