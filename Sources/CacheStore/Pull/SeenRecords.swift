package import EntitySchema

/// Which records a full pull has seen: one bit for each `_pk` that existed when it began.
///
/// A million records take 125 kB. A record that was not seen by the end of the list was deleted upstream.
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
    private var bits: [UInt64]

    package init(knownUpTo: Int64, position: Int64) {
        self.knownUpTo = knownUpTo
        self.position = position
        bits = Array(repeating: 0, count: Int(knownUpTo / 64) + 1)
    }

    /// Nil is no window.
    package mutating func limit(to window: RecordTest?) {
        if let window { windows.append(window) }
    }

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
                if repeated.count < 10 {
                    repeated.insert(pk)
                } else {
                    hasChanged = hasChanged || !repeated.contains(pk)
                }
                continue
            }
            bits[Int(pk / 64)] |= 1 << UInt64(pk % 64)
        }
    }

    package func contains(_ pk: Int64) -> Bool {
        guard pk > 0, pk <= knownUpTo else { return false }
        return bits[Int(pk / 64)] & 1 << UInt64(pk % 64) != 0
    }

    /// The next run of unseen `_pk`s, from `start` on; nil when there is none.
    func gap(from start: Int64) -> ClosedRange<Int64>? {
        guard let first = next(from: max(start, 1), seen: false) else { return nil }
        return first...((next(from: first, seen: true) ?? knownUpTo + 1) - 1)
    }

    /// Skips 64 at a time while all of them are equal.
    private func next(from start: Int64, seen: Bool) -> Int64? {
        var pk = start
        while pk <= knownUpTo {
            let word = (seen ? bits[Int(pk / 64)] : ~bits[Int(pk / 64)]) >> UInt64(pk % 64)
            if word != 0 {
                let found = pk + Int64(word.trailingZeroBitCount)
                return found <= knownUpTo ? found : nil
            }
            pk = (pk / 64 + 1) * 64
        }
        return nil
    }
}
