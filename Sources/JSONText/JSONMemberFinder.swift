internal import Glibc

/// Finds the values of named members of an object in one pass, without decoding or copying.
package struct JSONMemberFinder: Sendable {
    /// The names one after the other, and where each one is.
    private let text: [UInt8]
    private let names: [Range<Int>]
    /// A bit for the length of each name: most other members need no comparison.
    private let lengths: UInt64

    /// `members` are names as they are written.
    package init(_ members: [String]) {
        var text: [UInt8] = []
        names = members.map { member in
            let start = text.count
            text += Array(member.utf8)
            return start..<text.count
        }
        self.text = text
        lengths = names.reduce(0) { $0 | Self.bit($1) }
    }

    private static func bit(_ name: Range<Int>) -> UInt64 { 1 << UInt64(min(name.count, 63)) }

    /// For each name its value, the first of that name; nil when there is none or `record` is not an object. `isNull` is told of
    /// each name whose value is null.
    package func values(in record: JSONText, isNull: (Int) -> Void = { _ in }) -> [JSONText?] {
        var found = [JSONText?](repeating: nil, count: names.count)
        guard record.kind == .object, !names.isEmpty else { return found }
        record.bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, isChecked: true)
            scanner.at = 1
            while let (name, value) = scanner.nextCheckedMember() {
                guard let index = index(of: name, in: bytes), found[index] == nil else { continue }
                found[index] = record.part(value)
                if bytes[value.lowerBound] == UInt8(ascii: "n") { isNull(index) }
            }
        }
        return found
    }

    private func index(of name: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard lengths & Self.bit(name) != 0, let bytes = bytes.baseAddress else { return nil }
        return text.withUnsafeBufferPointer { text in
            guard let text = text.baseAddress else { return nil }
            return names.firstIndex { wanted in
                wanted.count == name.count && memcmp(text + wanted.lowerBound, bytes + name.lowerBound, name.count) == 0
            }
        }
    }
}

extension JSONScanner {
    /// The next member of a validated object, from anywhere between its parts: the range of its name without quotes and
    /// that of its value; nil at the end of the object.
    mutating func nextCheckedMember() -> (name: Range<Int>, value: Range<Int>)? {
        while true {
            skipSpace()
            switch current {
            case UInt8(ascii: ","): at += 1
            case UInt8(ascii: "\""):
                let start = at + 1
                skipCheckedString()
                let name = start..<max(start, at - 1)
                skipSpace()
                if current == UInt8(ascii: ":") { at += 1 }
                skipSpace()
                let value = at
                skipCheckedValue()
                return (name, value..<at)
            default: return nil
            }
        }
    }
}
