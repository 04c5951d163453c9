internal import EntitySchema
internal import GRDB
internal import JSONText

/// The records of a page that the cache already has byte for byte, reduced to what the page's outcome needs.
struct UnchangedRecords {
    /// For each record of the page, whether it is unchanged.
    private var isUnchanged: [Bool] = []
    private(set) var pks: [Int64] = []
    /// Change times by their length: in the usual notation, times of one length compare as text.
    private var times: [Int: (least: String, greatest: String)] = [:]

    /// `pk`: of an unchanged record.
    mutating func append(_ pk: Int64?) {
        isUnchanged.append(pk != nil)
        if let pk { pks.append(pk) }
    }

    mutating func note(_ time: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard !time.isEmpty else { return }
        let text = bytes[time]
        guard let known = times[time.count] else {
            let text = String(decoding: text, as: UTF8.self)
            return times[time.count] = (text, text)
        }
        if text.lexicographicallyPrecedes(known.least.utf8) {
            times[time.count]?.least = String(decoding: text, as: UTF8.self)
        }
        if known.greatest.utf8.lexicographicallyPrecedes(text) {
            times[time.count]?.greatest = String(decoding: text, as: UTF8.self)
        }
    }

    /// A page without these; `page` may be another version of the same records in the same order.
    func rest(of page: String) -> String {
        guard !pks.isEmpty else { return page }
        var page = page
        return page.withUTF8 { bytes in
            var walk = JSONElementWalk(bytes, members: [])
            var rest = [UInt8(ascii: "[")]
            for isUnchanged in isUnchanged where walk.next() && !isUnchanged {
                if rest.count > 1 { rest.append(UInt8(ascii: ",")) }
                rest += bytes[walk.element]
            }
            rest.append(UInt8(ascii: "]"))
            return String(decoding: rest, as: UTF8.self)
        }
    }

    /// Adds these to the outcome of the other records of `page`.
    func add(to outcome: inout PageOutcome, of page: PulledPage, _ db: Database) throws {
        outcome.records += pks.count
        outcome.hadBefore += pks.count
        if page.knownUpTo != nil { outcome.known += pks }
        for (least, greatest) in times.values {
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT \(EntityTable.normalizedTime("?1")), \(EntityTable.normalizedTime("?2"))"),
                arguments: [least, greatest])
            guard let earliest: String = row?[0], let latest: String = row?[1] else { continue }
            outcome.latestChange = max(outcome.latestChange ?? latest, latest)
            if page.wantsEarliest { outcome.earliestChange = min(outcome.earliestChange ?? earliest, earliest) }
        }
    }
}
