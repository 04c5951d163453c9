internal import Glibc

/// Finds the values of named members of an object in one pass, without decoding or copying.
package struct JSONMemberFinder: Sendable {
    /// The names one after the other, and where each one is.
    private let text: [UInt8]
    private let names: [Range<Int>]
    /// For each number that a name may have (`slot`), the first name with it; and for each name the next one. Negative at the
    /// end, so that most members are compared with one name or none.
    private var first = [Int](repeating: -1, count: Self.slots)
    private var next: [Int]

    private static let slots = 64

    /// `members` are names as they are written.
    package init(_ members: [String]) {
        var text: [UInt8] = []
        names = members.map { member in
            let start = text.count
            text += Array(member.utf8)
            return start..<text.count
        }
        self.text = text
        next = names.map { _ in -1 }
        // Backwards, so that of two equal names the first is found.
        for index in names.indices.reversed() {
            let slot = text.withUnsafeBufferPointer { Self.slot(of: names[index], in: $0) }
            next[index] = first[slot]
            first[slot] = index
        }
    }

    /// From the length and the last byte: fields of one record often begin alike.
    private static func slot(of name: Range<Int>, in text: UnsafeBufferPointer<UInt8>) -> Int {
        guard let last = name.last else { return 0 }
        return (name.count &* 7 ^ Int(text[last])) & (slots - 1)
    }

    /// For each name its value, the first of that name; nil when there is none or `record` is not an object. `isNull` is called
    /// with each name whose value is null.
    package func values(in record: JSONText, isNull: (Int) -> Void = { _ in }) -> [JSONText?] {
        var found = [JSONText?](repeating: nil, count: names.count)
        forEachFound(in: record) { index, value in
            guard found[index] == nil else { return }
            found[index] = value
            if value.kind == .null { isNull(index) }
        }
        return found
    }

    /// Replaces the values of the members that `changes` has. `values`: one for each name.
    package func replace(_ values: inout [JSONText?], by changes: JSONText) {
        forEachFound(in: changes) { index, value in values[index] = value }
    }

    /// Calls `visit` with each member of one of the names, and the place of that.
    private func forEachFound(in record: JSONText, _ visit: (_ index: Int, _ value: JSONText) -> Void) {
        guard record.kind == .object, !names.isEmpty else { return }
        record.bytes.withUnsafeBufferPointer { bytes in
            text.withUnsafeBufferPointer { text in
                var scanner = CheckedScanner(bytes, at: 1)
                while let (name, value) = scanner.nextMember() {
                    if let index = index(of: name, in: bytes, text) { visit(index, record.part(value)) }
                }
            }
        }
    }

    private func index(
        of name: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>, _ text: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var index = first[Self.slot(of: name, in: bytes)]
        guard let bytes = bytes.baseAddress, let text = text.baseAddress else { return nil }
        while index >= 0 {
            let wanted = names[index]
            if wanted.count == name.count,
                memcmp(text + wanted.lowerBound, bytes + name.lowerBound, name.count) == 0
            {
                return index
            }
            index = next[index]
        }
        return nil
    }
}
