package import EntitySchema

/// Which records a full pull has seen: one bit for each `_pk` that existed when it began.
///
/// A million records take 140 kB, whatever the greatest `_pk` is. A record that was not seen by the end of the list was
/// deleted upstream.
package struct SeenRecords: Sendable, Equatable {
    /// Records with a greater `_pk` are newer than the pull.
    package private(set) var knownUpTo: Int64
    /// The end of the change log at the start: later acknowledgements are newer than the pull.
    package let position: Int64
    /// The entity's windows while it was read: what lies outside of one of them need not be listed.
    package private(set) var windows: [RecordTest] = []
    /// A record was created during the pull, or a local deletion was acknowledged meanwhile: the list moved under the
    /// pages, and another record may have slid past them.
    package private(set) var hasChanged = false
    /// Records that came twice, as they do when a list moves, and always in some lists; the first ten.
    package private(set) var repeated: Set<Int64> = []
    /// As many as are counted.
    package var hasManyRepeated: Bool { repeated.count >= Self.mostRepeated }
    /// The bits of `pageSize` records each, by `_pk / pageSize`; only those of which one was seen.
    private var pages: [Int64: [UInt64]] = [:]

    private static let mostRepeated = 10
    private static let pageSize: Int64 = 4096
    private static let emptyPage = Array(repeating: UInt64(0), count: Int(pageSize / 64))

    package init(knownUpTo: Int64, position: Int64) {
        // There is always a number after it.
        self.knownUpTo = min(knownUpTo, .max - 1)
        self.position = position
    }

    /// Nil is no window.
    package mutating func limit(to window: RecordTest?) { if let window { windows.append(window) } }

    /// Marks a page's records as seen.
    package mutating func insert(_ outcome: PageOutcome) {
        hasChanged = hasChanged || outcome.deletedMeanwhile
        // When the table was empty at the start, every record must be new.
        guard knownUpTo > 0 else { return hasChanged = hasChanged || outcome.hadBefore > 0 }
        knownUpTo = min(knownUpTo, outcome.knownUpTo)
        for pk in outcome.known where pk > 0 {
            guard pk <= knownUpTo else {
                hasChanged = true
                continue
            }
            guard !contains(pk) else {
                if !hasManyRepeated {
                    repeated.insert(pk)
                } else {
                    hasChanged = hasChanged || !repeated.contains(pk)
                }
                continue
            }
            pages[pk / Self.pageSize, default: Self.emptyPage][Self.word(pk)] |= 1 << UInt64(pk % 64)
        }
    }

    /// Whether a page, before it is inserted, had records, and only such as were on earlier pages. False for one with a record that
    /// was left out: whether that came before is not known.
    package func hasAll(of outcome: PageOutcome) -> Bool {
        guard outcome.records > 0, outcome.hadBefore == outcome.records else { return false }
        return outcome.known.allSatisfy { $0 > knownUpTo || contains($0) }
    }

    package func contains(_ pk: Int64) -> Bool {
        guard pk > 0, pk <= knownUpTo, let page = pages[pk / Self.pageSize] else { return false }
        return page[Self.word(pk)] & 1 << UInt64(pk % 64) != 0
    }

    /// The place in a page of the 64 bits that a record's is one of.
    private static func word(_ pk: Int64) -> Int { Int(pk % pageSize / 64) }

    /// The next run of unseen `_pk`s, from `start` on; nil when there is none.
    func gap(from start: Int64) -> ClosedRange<Int64>? {
        guard let first = next(from: max(start, 1), seen: false) else { return nil }
        return first...(next(from: first, seen: true).map { $0 - 1 } ?? knownUpTo)
    }

    /// Skips 64 at a time while all of them are equal, and what has no page.
    private func next(from start: Int64, seen: Bool) -> Int64? {
        var pk = start
        while pk <= knownUpTo {
            let number = pk / Self.pageSize
            guard let page = pages[number] else {
                guard seen else { return pk }
                guard let following = pages.keys.filter({ $0 > number }).min() else { return nil }
                pk = following * Self.pageSize
                continue
            }
            let bits = page[Self.word(pk)]
            let word = (seen ? bits : ~bits) >> UInt64(pk % 64)
            if word != 0 {
                let found = pk + Int64(word.trailingZeroBitCount)
                return found <= knownUpTo ? found : nil
            }
            let last = pk | 63
            guard last < knownUpTo else { return nil }
            pk = last + 1
        }
        return nil
    }
}
