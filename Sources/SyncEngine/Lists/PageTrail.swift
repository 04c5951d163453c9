internal import EntitySchema
internal import JSONText
internal import Upstream

/// Remembers a hash of each page of one pull, to detect a list that never ends: 8 bytes a page.
struct PageTrail {
    private static let emptyPagesAllowed = 100
    /// More pages in a row with the records of earlier ones are no coincidence.
    private static let mostRepeats = 2
    /// More pages in a row with one record, each of which was alone on an earlier page, are none either. Up to here they may be: a
    /// list of changes with one record on a page may name it for each change.
    private static let mostAlone = 100
    /// Reading keys takes longer than hashing, so only the first `compared` of `every` pages are compared by their keys.
    private static let compared = 4
    private static let every = 32

    /// One position is that of all pages.
    private let isScroll: Bool
    private let path: String
    private let key: String?
    private var positions: Set<UInt64> = []
    private var pages: Set<UInt64> = []
    private var emptyInARow = 0
    private var keySequences: Set<UInt64> = []
    /// The records that were alone on a page, and how many pages in a row had none but these.
    private var alone: Set<UInt64> = []
    private var aloneAgain = 0
    private var number = 0
    private var repeatsInARow = 0

    /// `key`: that of the records, by which pages are compared whose other members change with each answer; nil for a list
    /// that may name a record for each of its changes.
    init(of list: ListPlan, at path: String, key: String? = nil) {
        isScroll = list.isScroll
        (self.path, self.key) = (path, key)
    }

    /// Call it with each page, before the page is written. Throws `.malformed` when the list would never end.
    mutating func add(_ page: Page, askedAt position: String?) throws(UpstreamError) {
        if let position, !isScroll { positions.insert(hash(position.utf8)) }
        if let next = page.next, positions.contains(hash(next.utf8)) {
            let scroll = next == position ? "; if one cursor serves all pages, set pagination.scroll: true" : ""
            throw .malformed("\(path) names a next page that it has named before\(Self.advice)\(scroll)")
        }
        guard page.count == 0 else {
            emptyInARow = 0
            guard pages.insert(hash(page.records.bytes)).inserted else {
                throw .malformed("\(path) answered the same page twice in one pull\(Self.advice)")
            }
            noteKeys(of: page)
            guard repeatsInARow <= Self.mostRepeats, aloneAgain <= Self.mostAlone else {
                throw .malformed(
                    "\(path) answered the same records on page after page, each time with other values, as if it ignored "
                        + "which page is asked for\(Self.advice)")
            }
            return
        }
        emptyInARow += 1
        guard emptyInARow <= Self.emptyPagesAllowed else {
            throw .malformed(
                "\(path) answered more than \(Self.emptyPagesAllowed) empty pages in a row\(Self.advice)")
        }
    }

    private mutating func noteKeys(of page: Page) {
        defer { number += 1 }
        noteAlone(page)
        let turn = number % Self.every
        guard let key, turn < Self.compared else { return }
        if turn == 0 { repeatsInARow = 0 }
        guard let keys = Self.keys(of: page.records, key), keys.count > 1 else {
            repeatsInARow = 0
            return
        }
        let isNew = keySequences.insert(hash(keys.joined(separator: "\0").utf8)).inserted
        repeatsInARow = isNew ? 0 : repeatsInARow + 1
    }

    private mutating func noteAlone(_ page: Page) {
        guard page.count == 1, let key, let name = Self.keys(of: page.records, key)?.first else {
            return aloneAgain = 0
        }
        aloneAgain = alone.insert(hash(name.utf8)).inserted ? 0 : aloneAgain + 1
    }

    /// Nil if a record has no key.
    private static func keys(of records: JSONText, _ key: String) -> [String]? {
        var keys: [String] = []
        for record in records.elements {
            guard let value = record[key], value.kind != .null else { return nil }
            keys.append(value.plain)
        }
        return keys
    }

    static let advice = "; check pagination in the schema: the style, and the place of the next page"

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
