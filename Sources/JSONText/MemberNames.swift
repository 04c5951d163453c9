/// The member names of the objects around a scan's position, to detect duplicates.
///
/// Optimised for records of about twenty members: two names are compared only when their hashes are equal, and an
/// object allocates nothing. From `largestList` members on, an object's names are kept in a set, so the cost stays
/// linear in the object's size.
struct MemberNames {
    /// One object's share of the names.
    struct Object {
        fileprivate var first: Int
        /// A bit for each hash seen so far: most new names need no comparison.
        fileprivate var seen: UInt64 = 0
        fileprivate var set: Set<[UInt8]>?
    }

    private struct Name {
        var hash: UInt64
        var start: Int
        var end: Int
    }

    private static let largestList = 64
    private var names: [Name] = []

    func begin() -> Object { Object(first: names.count) }

    mutating func end(_ object: Object) { names.removeSubrange(object.first...) }

    /// Adds the next name of an object, with its quotes; false when the object has it already.
    mutating func insert(_ range: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>, in object: inout Object) -> Bool {
        var hash = UInt64(truncatingIfNeeded: range.count)
        var isEscaped = false
        for index in range {
            isEscaped = isEscaped || bytes[index] == UInt8(ascii: "\\")
            hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
        }
        // Two spellings of one name have different hashes, so names with escapes are compared decoded.
        if isEscaped || object.set != nil || names.count - object.first >= Self.largestList {
            return insertDecoded(range, of: bytes, in: &object)
        }
        let bit: UInt64 = 1 << (hash >> 58)
        if object.seen & bit != 0 {
            for name in names[object.first...] where name.hash == hash && name.end - name.start == range.count {
                if range.indices.allSatisfy({ bytes[$0] == bytes[name.start + ($0 - range.lowerBound)] }) {
                    return false
                }
            }
        }
        object.seen |= bit
        names.append(Name(hash: hash, start: range.lowerBound, end: range.upperBound))
        return true
    }

    private func insertDecoded(
        _ range: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>, in object: inout Object
    ) -> Bool {
        func decoded(_ range: Range<Int>) -> [UInt8] {
            let inner = Array(bytes[range].dropFirst().dropLast())
            return inner.contains(UInt8(ascii: "\\")) ? Array(JSONEscapes.decode(inner[...]).utf8) : inner
        }
        var set = object.set ?? Set(names[object.first...].map { decoded($0.start..<$0.end) })
        object.set = nil
        defer { object.set = set }
        return set.insert(decoded(range)).inserted
    }
}
