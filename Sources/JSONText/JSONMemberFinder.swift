/// Finds the values of named members of an object in one pass, without decoding or copying.
package struct JSONMemberFinder: Sendable {
    private let names: [[UInt8]]

    /// `members` are names as they are written.
    package init(_ members: [String]) {
        names = members.map { Array($0.utf8) }
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
        names.firstIndex { $0.count == name.count && $0.elementsEqual(bytes[name]) }
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
