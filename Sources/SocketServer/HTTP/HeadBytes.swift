import Glibc

/// Builds a head, or a part of one, in memory that is large enough.
///
/// An array would look at each append whether it must grow and whether another variable holds it, which takes longer than to copy
/// a name or a value.
struct HeadBytes {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    private init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    /// What `fill` appends, at most `capacity` bytes; nil if it returns false.
    static func bytes(capacity: Int, _ fill: (inout HeadBytes) -> Bool) -> [UInt8]? {
        var isFilled = false
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            var head = HeadBytes(memory)
            isFilled = fill(&head)
            count = head.count
        }
        return isFilled ? bytes : nil
    }

    /// The most bytes that these fields take.
    static func capacity(for fields: [(name: String, value: String)]) -> Int {
        var capacity = 0
        for index in fields.indices { capacity += fields[index].name.utf8.count + fields[index].value.utf8.count + 4 }
        return capacity
    }

    mutating func append(_ part: UnsafeBufferPointer<UInt8>) {
        precondition(part.count <= memory.count - count)
        guard let start = memory.baseAddress, let source = part.baseAddress else { return }
        memcpy(start + count, source, part.count)
        count += part.count
    }

    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends the digits of a number that is not negative.
    mutating func append(_ number: Int) {
        var unit = 1
        while number / unit >= 10 { unit *= 10 }
        while unit > 0 {
            precondition(count < memory.count)
            memory[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10)
            count += 1
            unit /= 10
        }
    }

    /// Appends fields, each after the end of the line before it, but none that only the server sets. False if one of them, appended
    /// or not, is not valid HTTP; the head is then of no use.
    mutating func append(_ fields: [(name: String, value: String)]) -> Bool {
        // By index, because a walk over the fields copies each of them.
        for index in fields.indices {
            let isLeftOut = Self.isReserved(fields[index].name)
            guard isAppended(fields[index].name, fields[index].value, isLeftOut: isLeftOut) else { return false }
        }
        return true
    }

    private mutating func isAppended(_ name: consuming String, _ value: consuming String, isLeftOut: Bool) -> Bool {
        let isName = name.withUTF8 { name in
            if !isLeftOut {
                append("\r\n")
                append(name)
                append(": ")
            }
            return Grammar.isToken(name)
        }
        let isValue = value.withUTF8 { value in
            if !isLeftOut { append(value) }
            return Grammar.isValue(value)
        }
        return isName && isValue
    }

    /// Fields that only the server sets: a second value could be used for response splitting.
    private static func isReserved(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: Headers.same(name, "Date")
        case 10: Headers.same(name, "Connection")
        case 14: Headers.same(name, "Content-Length")
        case 17: Headers.same(name, "Transfer-Encoding")
        default: false
        }
    }
}
