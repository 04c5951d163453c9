internal import JSONText
internal import Upstream

/// What the pages of one pull were, as far as it takes to notice that they go round in circles: 8 bytes each.
struct PageTrail {
    private static let emptyPagesAllowed = 100

    private var positions: Set<Int> = []
    private var pages: Set<Int> = []
    private var emptyInARow = 0

    /// Called with each page, before it is written. Throws `.malformed` when going on would never end.
    mutating func add(_ page: Page, of path: String, askedAt position: String?) throws(UpstreamError) {
        if let position { positions.insert(hash(position.utf8)) }
        if let next = page.next, positions.contains(hash(next.utf8)) {
            throw .malformed("\(path) names as next page one that it has named before\(Self.advice)")
        }
        guard page.count == 0 else {
            emptyInARow = 0
            guard pages.insert(hash(page.records.bytes)).inserted else {
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

    private static let advice = "; check pagination in the schema: the style, and where the next page is told"

    private func hash(_ bytes: some Collection<UInt8>) -> Int {
        var hasher = Hasher()
        let isWhole: Void? = bytes.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isWhole == nil { for byte in bytes { hasher.combine(byte) } }
        return hasher.finalize()
    }
}
