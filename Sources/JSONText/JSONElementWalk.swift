/// Walks over the elements of a validated array and reports the range of each element and of some of its members.
///
/// Nothing is decoded or allocated. Text that is not JSON yields wrong ranges, but never outside the text.
package struct JSONElementWalk {
    private var scanner: CheckedScanner
    private let names: [[UInt8]?]
    private var isOpen = false
    /// The range of the current element.
    package private(set) var element = 0..<0
    /// The range of each wanted member's value, the first of its name; empty when there is none.
    package private(set) var values: [Range<Int>]

    /// `bytes` must be one array. `members` are names as they are written; nil matches none.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, members: [String?]) {
        scanner = CheckedScanner(bytes)
        names = members.map { $0.map { Array($0.utf8) } }
        values = names.map { _ in 0..<0 }
    }

    /// Moves to the next element; false at the end. An element that is not an object has no members.
    package mutating func next() -> Bool {
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: isOpen ? "," : "[") else { return false }
        isOpen = true
        scanner.at += 1
        scanner.skipSpace()
        guard scanner.current != UInt8(ascii: "]") else { return false }
        let start = scanner.at
        for index in values.indices { values[index] = 0..<0 }
        if scanner.current == UInt8(ascii: "{") { findMembers() } else { scanner.skipValue() }
        element = start..<scanner.at
        return true
    }

    private mutating func findMembers() {
        scanner.at += 1
        while let (name, value) = scanner.nextMember() {
            for (index, wanted) in names.enumerated() where wanted?.count == name.count && values[index].isEmpty {
                if let wanted, scanner.bytes[name].elementsEqual(wanted) { values[index] = value }
            }
        }
        if scanner.current == UInt8(ascii: "}") { scanner.at += 1 }
    }
}
