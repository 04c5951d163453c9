/// Handmade gzip members (RFC 1952), so the tests need no compressor.
enum Gzip {
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

    /// The text in one stored block.
    static func stored(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let length = UInt16(bytes.count)
        return head + [1] + little(length) + little(~length) + bytes + little(crc(bytes)) + little(UInt32(bytes.count))
    }

    /// One zero, then 258 more per copy, each copy in 13 bits: a bomb of 159 to 1.
    ///
    /// One block with the fixed Huffman codes (RFC 1951, 3.2.6): the literal 0, then copies of length 258 from distance
    /// 1. It never ends, because the reader must stop long before.
    static func endlessZeros(copies: Int) -> [UInt8] {
        var bits: [Bool] = [true, true, false]
        bits += [false, false, true, true, false, false, false, false]
        for _ in 0..<copies {
            bits += [true, true, false, false, false, true, false, true]
            bits += [false, false, false, false, false]
        }
        var packed = head
        for start in stride(from: 0, to: bits.count, by: 8) {
            let byte = bits[start..<min(start + 8, bits.count)].enumerated()
                .reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) }
            packed.append(byte)
        }
        return packed
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
