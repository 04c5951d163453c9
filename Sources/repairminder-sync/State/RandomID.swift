import Foundation

/// New ids of records and idempotency keys: random UUIDs in lower case (RFC 9562).
enum RandomID {
    /// `UUID.uuidString` takes ten times as long, and each queued change needs one.
    @Sendable static func make() -> String {
        withUnsafeBytes(of: UUID().uuid) { bytes in
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
