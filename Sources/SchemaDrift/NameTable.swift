internal import Glibc

/// Looks up names by scope and bytes without allocating: open addressing over one run of bytes.
package struct NameTable {
    private struct Slot {
        var hash: UInt64
        var scope: Int32
        var start: Int32
        var count: Int32
        var value: Int32
    }

    package static let noName: Int32 = -1

    private var slots: [Slot]
    private var names: [UInt8] = []
    private let mask: Int

    /// A name should appear once in a scope; if it appears twice, the first entry wins.
    package init(_ entries: [(scope: Int32, name: String, value: Int32)]) {
        var size = 16
        while size < entries.count * 2 { size *= 2 }
        mask = size - 1
        slots = Array(repeating: Slot(hash: 0, scope: 0, start: 0, count: -1, value: Self.noName), count: size)
        for entry in entries {
            let bytes = Array(entry.name.utf8)
            let hash = bytes.withUnsafeBufferPointer { Self.hash(entry.scope, $0, 0..<$0.count).hash }
            var index = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
            while slots[index].count >= 0 { index = (index + 1) & mask }
            slots[index] = Slot(
                hash: hash, scope: entry.scope, start: Int32(names.count), count: Int32(bytes.count),
                value: entry.value)
            names += bytes
        }
    }

    /// The hash of the name at `range`, and whether it has a backslash. Eight bytes at a time: every member of every record
    /// that is pulled is looked up.
    package static func hash(
        _ scope: Int32, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
    ) -> (hash: UInt64, hasEscape: Bool) {
        var hash = mix(seed(scope), word: UInt64(range.count))
        var escapes: UInt64 = 0
        var at = range.lowerBound
        if let base = bytes.baseAddress {
            while at + 8 <= range.upperBound {
                let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
                escapes |= backslashes(in: word)
                hash = mix(hash, word: word)
                at += 8
            }
        }
        var tail: UInt64 = 0
        for place in at..<range.upperBound { tail = tail << 8 | UInt64(bytes[place]) }
        return (mix(hash, word: tail), escapes | backslashes(in: tail) != 0)
    }

    private static func mix(_ hash: UInt64, word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ mixed >> 32
    }

    /// Zero if none of the eight bytes is a backslash.
    private static func backslashes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let difference = word ^ (ones &* 0x5C)
        return (difference &- ones) & ~difference & (ones &* 0x80)
    }

    /// The start value for hashing in `scope`; every byte is mixed in after that (FNV-1a).
    package static func seed(_ scope: Int32) -> UInt64 {
        0xcbf2_9ce4_8422_2325 ^ (UInt64(truncatingIfNeeded: scope) &* 0x9e37_79b9_7f4a_7c15)
    }

    package static func mix(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    /// The value of the name at `range` with this hash; `noName` if there is none.
    package func value(_ scope: Int32, _ hash: UInt64, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>)
        -> Int32
    {
        slots.withUnsafeBufferPointer { slots in
            var index = Int(truncatingIfNeeded: hash ^ hash >> 32) & mask
            while slots[index].count >= 0 {
                let slot = slots[index]
                if slot.hash == hash, slot.scope == scope, Int(slot.count) == range.count, spells(slot, bytes, range) {
                    return slot.value
                }
                index = (index + 1) & mask
            }
            return Self.noName
        }
    }

    private func spells(_ slot: Slot, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool {
        names.withUnsafeBufferPointer { names in
            guard let name = names.baseAddress, let bytes = bytes.baseAddress else { return range.isEmpty }
            return memcmp(name + Int(slot.start), bytes + range.lowerBound, range.count) == 0
        }
    }
}
