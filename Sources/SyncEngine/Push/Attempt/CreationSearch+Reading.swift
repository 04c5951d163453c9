internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// What one reading of the list shows.
extension CreationSearch {
    struct Reading {
        var list: ListReading
        var found: RemoteRecord?
        /// The key of a record that may be the created one.
        var near: String?
        /// There is more than one of these.
        var hasSeveral = false
        /// One of them that has the compared values, which many records have, or what the server may have made of them.
        var unsure: RemoteRecord?
        /// Some record shows a field of the look-up.
        var isTelling = false
        /// The key of a record that shows no such field, and was not known.
        var hidden: String?
        /// The list has a change from after the attempt.
        var isNewer = false
        /// One for each record's key and compared fields, in the order in which they were first shown.
        var digests: [Int] = []
        /// Why no more of it was read; nil if all was.
        var excess: String?
        /// It shows something without a key that may be the record.
        var hasNameless = false

        /// Why the list may be cut; nil if nothing suggests it. A look-up must not be misled, and a list that ends where servers
        /// often stop is rarely whole.
        var doubt: String? { excess ?? list.cut ?? list.limit }
        /// How many fewer records the list showed than its total.
        var missing: Int { max(0, (list.total ?? 0) - list.records) }
        /// The list showed as many records as its total says, each once, so none slid between its pages.
        var isWhole: Bool { list.total == list.records && list.total == digests.count }

        /// The only record that may be the created one; nil if there may be others.
        var only: RemoteRecord? {
            hasSeveral || hidden != nil || hasNameless || missing > 0 ? nil : unsure
        }

        /// Some upstreams show records with the same change time in a different order each time.
        func isSame(as other: Reading) -> Bool {
            if isWhole, other.isWhole, Set(digests) == Set(other.digests) { return true }
            return digests == other.digests && list.records == other.list.records
        }

        /// Whether it shows all records of an earlier reading, unchanged and in the same order, and some more. A record
        /// that had made others slide in that reading would be missing, or in another place.
        func extends(_ earlier: Reading) -> Bool {
            var rest = earlier.digests[...]
            guard !rest.isEmpty else { return false }
            for digest in digests where digest == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }

    /// Reads the list once, or until the record is found.
    func read() async throws -> Reading {
        var request = request
        var reading = Reading(list: ListReading(request.list, at: request.path, key: entity.key))
        var seen: Set<Int> = []
        repeat {
            let page = try await upstream.page(request)
            // The records are small texts by now, and other reads follow before the next page.
            page.share?.release()
            try reading.list.add(page)
            for record in page.records.elements {
                // Comparing long texts with many records can take minutes, and all else must go on meanwhile. Unlike
                // with `Task.yield()`, the runtime's hook enqueues a task, so simulations decide what runs.
                await Task {}.value
                guard !Task.isCancelled else { throw UpstreamError.cancelled }
                let digest = digest(of: record)
                if seen.insert(digest).inserted { reading.digests.append(digest) }
                try await compare(record, &reading)
                if reading.found != nil { return reading }
            }
            guard reading.list.records <= reconciler.mostRecords else {
                reading.excess = "it has more than \(reconciler.mostRecords.grouped) records, and no more are read"
                return reading
            }
            request.position = reading.list.position
        } while request.position != nil
        return reading
    }

    private func digest(of record: JSONText) -> Int {
        var hasher = Hasher()
        hasher.combine((record[entity.key]?.plain ?? record.text).exact)
        for field in fields { hasher.combine(entity.value(of: field, in: record)?.text) }
        hasher.combine(entity.isDeleted(record))
        return hasher.finalize()
    }
}
