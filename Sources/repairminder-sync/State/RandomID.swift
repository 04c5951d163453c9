/// New ids of records and idempotency keys: random UUIDs in lower case (RFC 9562).
enum RandomID {
    /// Not Foundation's `UUID()`, which opens a file for its random bytes: where no more can be open, all its values are the same.
    /// And `UUID.uuidString` takes ten times as long, and each queued change needs one.
    @Sendable static func make() -> String {
        var random = SystemRandomNumberGenerator()
        let (first, second) = (random.next() as UInt64, random.next() as UInt64)
        // Version 4, and the variant of the RFC.
        let numbers = ((first & ~0xF000 | 0x4000).bigEndian, (second & ~(3 << 62) | 1 << 63).bigEndian)
        return withUnsafeBytes(of: numbers) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var place = 0
                for (index, byte) in bytes.enumerated() {
                    if [4, 6, 8, 10].contains(index) {
                        text[place] = UInt8(ascii: "-")
                        place += 1
                    }
                    text[place] = digit(byte >> 4)
                    text[place + 1] = digit(byte & 15)
                    place += 2
                }
                return place
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
