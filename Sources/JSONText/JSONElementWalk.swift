/// Goes over the elements of an array that was checked before and tells where each stands, and some of its members.
///
/// Nothing is decoded or allocated. Text that is no JSON leads to odd places, never outside the text.
package struct JSONElementWalk {
    private var scanner: JSONScanner
    private let names: [[UInt8]?]
    private var isOpen = false
    /// Where the element at hand stands.
    package private(set) var element = 0..<0
    /// Where the value of each wanted member of it stands, of the first of its name; empty where there is none.
    package private(set) var values: [Range<Int>]

    /// Whether it has no space between its parts.
    package private(set) var isCompact = true

    /// `bytes` must be one array; `members` are names as they are written, nil one that no member has.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, members: [String?]) {
        scanner = JSONScanner(bytes, isChecked: true)
        names = members.map { $0.map { Array($0.utf8) } }
        values = names.map { _ in 0..<0 }
    }

    /// Moves to the next element; false at the end. One that is no object has no members.
    package mutating func next() -> Bool {
        scanner.skipSpace()
        guard scanner.current == UInt8(ascii: isOpen ? "," : "[") else { return false }
        isOpen = true
        scanner.at += 1
        scanner.skipSpace()
        guard scanner.current != UInt8(ascii: "]") else { return false }
        let start = scanner.at
        scanner.hasSkippedSpace = false
        for index in values.indices { values[index] = 0..<0 }
        if scanner.current == UInt8(ascii: "{") { findMembers() } else { scanner.skipCheckedValue() }
        element = start..<scanner.at
        isCompact = !scanner.hasSkippedSpace
        return true
    }

    private mutating func findMembers() {
        scanner.at += 1
        while true {
            scanner.skipSpace()
            switch scanner.current {
            case UInt8(ascii: "\""): findMember()
            case UInt8(ascii: ","): scanner.at += 1
            case UInt8(ascii: "}"):
                scanner.at += 1
                return
            default: return
            }
        }
    }

    private mutating func findMember() {
        let start = scanner.at + 1
        scanner.skipCheckedString()
        let name = start..<max(start, scanner.at - 1)
        scanner.skipSpace()
        if scanner.current == UInt8(ascii: ":") { scanner.at += 1 }
        scanner.skipSpace()
        let value = scanner.at
        scanner.skipCheckedValue()
        for (index, wanted) in names.enumerated() where wanted?.count == name.count && values[index].isEmpty {
            if let wanted, scanner.bytes[name].elementsEqual(wanted) { values[index] = value..<scanner.at }
        }
    }
}
