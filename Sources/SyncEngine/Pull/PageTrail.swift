internal import JSONText
internal import Upstream

/// Remembers a hash of each page of one pull, to detect a list that never ends: 8 bytes a page.
struct PageTrail {
    private static let emptyPagesAllowed = 100

    /// Two readings of a list with the same digest saw the same pages in the same order.
    private(set) var digest: UInt64 = 0
    private var positions: Set<UInt64> = []
    private var pages: Set<UInt64> = []
    private var emptyInARow = 0

    /// Call it with each page, before the page is written. Throws `.malformed` when the list would never end.
    mutating func add(_ page: Page, of path: String, askedAt position: String?) throws(UpstreamError) {
        if let position { positions.insert(hash(position.utf8)) }
        if let next = page.next, positions.contains(hash(next.utf8)) {
            throw .malformed("\(path) names a next page that it has named before\(Self.advice)")
        }
        guard page.count == 0 else {
            emptyInARow = 0
            let said = hash(page.records.bytes)
            digest = Self.mix(digest, said)
            guard pages.insert(said).inserted else {
                throw .malformed("\(path) answered the same page twice in one pull\(Self.advice)")
            }
            return
        }
        emptyInARow += 1
        guard emptyInARow <= Self.emptyPagesAllowed else {
            throw .malformed(
                "\(path) answered more than \(Self.emptyPagesAllowed) empty pages in a row\(Self.advice)")
        }
    }

    private static let advice = "; check pagination in the schema: the style, and the place of the next page"

    /// Hashes eight bytes at a time, since every page of a first pull passes here.
    private func hash(_ bytes: some Collection<UInt8>) -> UInt64 {
        let whole = bytes.withContiguousStorageIfAvailable { Self.mix(UnsafeRawBufferPointer($0)) }
        return whole ?? Array(bytes).withUnsafeBytes(Self.mix)
    }

    private static func mix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        let words = bytes.count / 8
        for index in 0..<words { hash = mix(hash, bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
        for byte in bytes.dropFirst(words * 8) { hash = mix(hash, UInt64(byte)) }
        return hash
    }

    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 32
    }
}
