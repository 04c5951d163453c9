/// Finds the values of named members of an object in one pass, without decoding or copying.
package struct JSONMemberFinder: Sendable {
    /// The names one after the other, and where each one is.
    private let text: [UInt8]
    private let names: [Range<Int>]

    /// `members` are names as they are written.
    package init(_ members: [String]) {
        var text: [UInt8] = []
        names = members.map { member in
            let start = text.count
            text += Array(member.utf8)
            return start..<text.count
        }
        self.text = text
    }

    /// For each name its value, the first of that name; nil when there is none or `record` is not an object.
    package func values(in record: JSONText) -> [JSONText?] {
        var found = [JSONText?](repeating: nil, count: names.count)
        guard record.kind == .object, !names.isEmpty else { return found }
        record.bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, isChecked: true)
            scanner.at = 1
            while let (name, value) = scanner.nextCheckedMember() {
                guard let index = index(of: name, in: bytes), found[index] == nil else { continue }
                found[index] = record.part(value)
            }
        }
        return found
    }

    private func index(of name: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        text.withUnsafeBufferPointer { text in
            for index in names.indices where names[index].count == name.count {
                let start = names[index].lowerBound
                if (0..<name.count).allSatisfy({ text[start + $0] == bytes[name.lowerBound + $0] }) { return index }
            }
            return nil
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
