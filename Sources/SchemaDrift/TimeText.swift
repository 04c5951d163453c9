internal import EntitySchema

/// Checks whether bytes are a time that `Timestamp` can read, without allocating for the usual notation.
package enum TimeText {
    package static func isTime(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        isUsual(bytes, range)
            || Timestamp(iso8601: String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)) != nil
    }

    /// `2026-11-21`.
    package static func isDay(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        range.count == 10
            && Timestamp.isDay(String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self))
    }

    /// `2026-11-21T10:42:00Z`, with or without a fraction.
    package static func isUsual(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count >= 20 else { return false }
        func digit(_ offset: Int) -> UInt8 { bytes[range.lowerBound + offset] &- 0x30 }
        func two(_ offset: Int, in allowed: ClosedRange<UInt8>) -> Bool {
            digit(offset) < 10 && digit(offset + 1) < 10 && allowed.contains(digit(offset) * 10 + digit(offset + 1))
        }
        func has(_ byte: UInt8, _ offset: Int) -> Bool { bytes[range.lowerBound + offset] == byte }
        guard two(0, in: 0...99), two(2, in: 0...99), has(UInt8(ascii: "-"), 4), two(5, in: 1...12),
            has(UInt8(ascii: "-"), 7), two(8, in: 1...31), has(UInt8(ascii: "T"), 10), two(11, in: 0...23),
            has(UInt8(ascii: ":"), 13), two(14, in: 0...59), has(UInt8(ascii: ":"), 16), two(17, in: 0...60),
            has(UInt8(ascii: "Z"), range.count - 1)
        else { return false }
        guard range.count > 20 else { return true }
        guard has(UInt8(ascii: "."), 19), range.count > 21 else { return false }
        for offset in 20..<(range.count - 1) where digit(offset) > 9 { return false }
        return true
    }
}
