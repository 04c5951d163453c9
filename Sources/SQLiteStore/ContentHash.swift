/// A fast 64-bit hash of bytes, the same in every run and on every machine, so that stored hashes can be compared
/// later.
///
/// Two 64-bit multiplications into 128 bits for every sixteen bytes (the scheme of wyhash): several gigabytes a second.
/// It does not withstand an attacker who crafts collisions.
package enum ContentHash {
    private static let secret: (UInt64, UInt64, UInt64) = (
        0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3
    )

    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = secret.2
        var at = 0
        // Four steps at once: a third of a step is counting.
        while bytes.count - at >= 64 {
            hash = mix(word(bytes, at) ^ secret.0, word(bytes, at + 8) ^ hash)
            hash = mix(word(bytes, at + 16) ^ secret.0, word(bytes, at + 24) ^ hash)
            hash = mix(word(bytes, at + 32) ^ secret.0, word(bytes, at + 40) ^ hash)
            hash = mix(word(bytes, at + 48) ^ secret.0, word(bytes, at + 56) ^ hash)
            at += 64
        }
        while bytes.count - at >= 16 {
            hash = mix(word(bytes, at) ^ secret.0, word(bytes, at + 8) ^ hash)
            at += 16
        }
        let rest = bytes.count - at
        let low = rest >= 8 ? word(bytes, at) : tail(bytes, at, rest)
        let high = rest > 8 ? tail(bytes, at + 8, rest - 8) : 0
        hash = mix(low ^ secret.0, high ^ hash)
        return mix(hash ^ secret.1, UInt64(bytes.count) ^ secret.2)
    }

    package static func of(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.withContiguousStorageIfAvailable { of(UnsafeRawBufferPointer($0)) } ?? of(Array(bytes))
    }

    /// A hash of everything hashed into `hash` and then `word`.
    static func adding(_ word: UInt64, to hash: UInt64) -> UInt64 { mix(hash ^ secret.0, word ^ secret.1) }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }

    private static func tail(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 << 8 | UInt64(bytes[at + $1]) }
    }

    private static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }
}
