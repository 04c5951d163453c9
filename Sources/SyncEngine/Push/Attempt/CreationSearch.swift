internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Searches a list for the record of a creation whose answer was lost: a record with the sent values that was not known
/// before.
struct CreationSearch {
    let reconciler: CreateReconciler
    /// The first page of the list.
    let request: PageRequest
    /// The fields that are compared: those of the look-up that were sent.
    let fields: [String]
    /// All fields of the look-up.
    let named: [String]
    /// As `PushRoute.shownAmong`.
    var among: [String: Place] = [:]
    let change: OutboxChange
    let entity: Entity

    private var environment: SyncEnvironment { reconciler.environment }
    private var store: CacheStore { environment.store }
    private var upstream: any Upstream { reconciler.upstream }
    private var now: Timestamp { reconciler.now }

    /// Reads the list until it says what became of the creation.
    ///
    /// In a list of several pages, the record may slide between them while they are read. It counts as absent when the
    /// next reading shows the same records in the same order: the same keys and compared fields, since other members
    /// may change with each reading. If others keep adding records, three readings are needed, each of which has all
    /// records of the one before. If the list keeps changing in other ways, it is read again later; after a day, the
    /// creation is left to a person.
    func finding() async throws -> CreateReconciler.Finding {
        var before: Reading?
        var extensions = 0
        for _ in 1...Self.mostReadings {
            let reading = try await read()
            if let found = reading.found { return .applied(found) }
            if let partial = reading.list.partial { return untilLong("the list may be cut: \(partial)") }
            guard reconciler.hasSettled(change, before: reading.list.age ?? .zero) else {
                return .notYet("the upstream may still apply the attempt")
            }
            // Such a list may still show the record, so a person is asked only once the upstream must show it.
            if let doubt = reading.doubt { return .unknowable("the list may be cut: \(doubt)") }
            let isSame = before.map(reading.isSame) ?? false
            extensions = before.map(reading.extends) ?? false ? extensions + 1 : 0
            let isAfterAttempt = reading.isNewer && reading.list.pages == 1
            // A list that grows while it is read has a greater total in the end.
            let onlyGrows = extensions == 2 && reading.missing == 0
            if isAfterAttempt || isSame || onlyGrows { return try await finding(reading) }
            before = reading
        }
        return untilLong("\(request.path) kept changing while it was read")
    }

    /// The finding from a list that may show more the next time.
    private func untilLong(_ reason: String) -> CreateReconciler.Finding {
        guard wasLookedUp(atLeast: 20, for: .seconds(86_400)) else { return .notYet(reason) }
        return .unknowable("\(reason), for a day (a look_up with a path that names the record avoids this)")
    }

    /// Whether look-ups were repeated for so long that the list is unlikely to be another one the next time. After fewer than
    /// `count`, the machine may have been off for most of the time.
    private func wasLookedUp(atLeast count: Int, for time: Duration) -> Bool {
        guard let attempt = change.lastAttemptAt, change.tried >= count else { return false }
        return now.since(attempt) >= time
    }

    /// The finding from a list in which no record is surely the created one.
    private func finding(_ reading: Reading) async throws -> CreateReconciler.Finding {
        // The upstream has said that it made one, so the only one that may be it is.
        if change.wasAccepted, let only = reading.only { return .applied(only) }
        if let near = reading.near ?? (reading.isTelling ? nil : reading.hidden) {
            return .unknowable("the upstream has a record that may be this one: \(near)")
        }
        if let twin = try editedTwin() {
            return .unknowable(
                "\(twin) came after the attempt, and may be this one, with other values since it was edited here")
        }
        if reading.missing > 0 {
            let reason = "the list may be cut: its total is \(reading.missing) more than its records"
            // Others may delete records between its pages, and some upstreams keep such a list for minutes.
            return wasLookedUp(atLeast: 8, for: .seconds(600)) ? .unknowable(reason) : .notYet(reason)
        }
        if reading.hasNameless {
            return .unknowable("the list shows a record without a key, which may be this one")
        }
        // An account that may see nothing is shown no records either.
        guard try await reconciler.judge.isServing(entity) else {
            throw UpstreamError.barred(
                status: 404, "a lost creation is looked up, and the upstream shows no \(entity.name) at all")
        }
        return .absent
    }

    /// The key of a record that came after the attempt and was edited here since, in a field that the look-up compares.
    /// Before the edit it may have had all the sent values.
    private func editedTwin() throws -> String? {
        try store.editedTwins(of: change).first { twin in
            !twin.fields.isDisjoint(with: fields)
                && change.isSaid(by: twin.record, of: entity, fields.filter { !twin.fields.contains($0) })
        }.map { entity.shownKey(of: $0.record) }
    }

    private static let mostReadings = 4

    private struct Reading {
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
        private var isWhole: Bool { list.total == list.records && list.total == digests.count }

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
    private func read() async throws -> Reading {
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

    /// Notes in the reading what one listed record says about the creation.
    private func compare(_ record: JSONText, _ reading: inout Reading) async throws {
        reading.isNewer = reading.isNewer || isNewer(record)
        reading.hasNameless = reading.hasNameless || isNameless(record)
        let tells = fields.contains { entity.value(of: $0, in: record) != nil }
        reading.isTelling = reading.isTelling || tells
        guard let near = try await candidate(record) else { return }
        let witness = ContentWitness(environment: environment, upstream: upstream)
        let verdict = try await witness.verdict(on: near.record, for: change, entity, isNeeded: needsContent)
        if verdict == .another { return }
        let isOwn = try verdict == .own && mayBeOwn(near.record)
        let isSaid = change.isSaid(by: near.record, of: entity, fields)
        if isOwn, isSaid, isSure(of: near.record), mayHaveAmong(record, or: near.record) {
            reading.found = near
            return
        }
        if isOwn, isSaid || change.isFormed(in: near.record, of: entity, fields), !isOlder(near.record) {
            reading.unsure = near
        }
        let key = entity.shownKey(of: near.record)
        guard tells else { return reading.hidden = key }
        reading.hasSeveral = reading.hasSeveral || reading.near.map { $0 != key } ?? false
        reading.near = key
    }

    /// Whether only its content tells the record from others with the same values. Of a creation that was accepted, which is
    /// never sent again, the values are enough.
    private var needsContent: Bool {
        guard case .upload = change.content, !change.wasAccepted else { return false }
        return !change.isTold(by: fields, of: entity)
    }

    /// Whether a record with the compared values is the created one. If many records have these values, it must also have all
    /// else that was sent, and no change time from before the attempt.
    private func isSure(of record: JSONText) -> Bool {
        if needsContent || entity.isKey(change.key, of: record) || change.isTold(by: fields, of: entity) {
            return true
        }
        return !isOlder(record) && change.isSaid(by: record, of: entity, beside: named)
    }

    /// Whether a record with the compared values may have the values of `among`, as it is listed or else by itself. One with the
    /// key that was sent needs none of them.
    private func mayHaveAmong(_ listed: JSONText, or whole: JSONText) -> Bool {
        entity.isKey(change.key, of: listed)
            || among.allSatisfy { name, place in
                change.mayHave(name, among: place.value(in: listed) ?? place.value(in: whole), of: entity)
            }
    }

    /// Whether the record was last changed before the first attempt. Some upstreams write only the minute or the day.
    private func isOlder(_ record: JSONText) -> Bool {
        isEarlier(record, by: .seconds(60)) == true && !hasDayAlone(record)
    }

    /// Whether it has no key, and nothing that the creation did not send: some servers list a new record so until it is ready.
    private func isNameless(_ record: JSONText) -> Bool {
        guard (record[entity.key]?.plain ?? "").isEmpty else { return false }
        let shown = fields.filter { entity.value(of: $0, in: record) != nil }
        return change.isSaid(by: record, of: entity, shown) || change.mayBe(record, of: entity, fields)
    }

    private func digest(of record: JSONText) -> Int {
        var hasher = Hasher()
        hasher.combine((record[entity.key]?.plain ?? record.text).exact)
        for field in fields { hasher.combine(entity.value(of: field, in: record)?.text) }
        hasher.combine(entity.isDeleted(record))
        return hasher.finalize()
    }

    /// A listed record that may be the created one. It is read by its key if the list shows less than was sent.
    private func candidate(_ record: JSONText) async throws -> RemoteRecord? {
        let shown = fields.filter { entity.value(of: $0, in: record) != nil }
        let isPartial = shown.count < fields.count && change.isSaid(by: record, of: entity, shown)
        guard isPartial || change.isSaid(by: record, of: entity, fields) || change.mayBe(record, of: entity, fields),
            let key = record[entity.key]?.plain, !key.isEmpty
        else { return nil }
        // If the record already has its final key, the change itself made that key known.
        guard try key.exact == change.key.exact || !store.wasKnown(key, before: change) else { return nil }
        guard wasDeletedEarlier(record) != true else { return nil }
        guard isPartial, entity.recordPath(of: record) != nil else { return RemoteRecord(record) }
        guard let whole = try await whole(record) else { return RemoteRecord(record) }
        let isOther =
            fields.allSatisfy { change.body[$0] == nil || entity.value(of: $0, in: whole.record) != nil }
            && !change.isSaid(by: whole.record, of: entity, fields)
            && !change.mayBe(whole.record, of: entity, fields)
        return isOther ? nil : whole
    }

    /// The listed record as it is served by its key; nil if it is not.
    private func whole(_ record: JSONText) async throws -> RemoteRecord? {
        do {
            return try await upstream.record(of: entity, known: record)
        } catch let error where error.isUnknownMethod {
            return nil
        }
    }

    /// False if its key is unusable, if it was or may have been deleted before the creation was sent, or if it may have
    /// been there before, where the cache does not look.
    private func mayBeOwn(_ record: JSONText) throws -> Bool {
        try !entity.hasUnusableKey(record) && wasDeletedEarlier(record) == false && !wasUnseenEarlier(record)
    }

    /// Whether the record may have been there before the first attempt, unknown to the cache.
    ///
    /// A look-up by a path of its own may show what the pulled list leaves out, such as what is archived. As change times may
    /// be days, or the same for many records, only one from more than a day before the attempt says so. Of a record outside of
    /// the window, a change time from after the attempt denies it; without one, or where it is the day of the attempt, a record
    /// that is inside counts as new.
    private func wasUnseenEarlier(_ record: JSONText) throws -> Bool {
        guard !entity.isKey(change.key, of: record) else { return false }
        let isLongSince = isEarlier(record, by: .seconds(86_400)) == true
        if request.path != entity.pull?.path, isLongSince { return true }
        guard entity.pull?.window != nil else { return false }
        if let isEarlier = isEarlier(record), isLongSince || !isEarlier || !hasDayAlone(record) { return isEarlier }
        let window = try store.window(of: entity, at: environment.upstreamTime)
        return window.map { !$0.holds(for: record, of: entity) } ?? true
    }

    /// Whether the upstream deleted the record before the first attempt, so that it is another one. Nil if it is marked
    /// as deleted and the time is unknown. A record with the key made here is the change's own; so is any if the
    /// creation itself has the mark.
    private func wasDeletedEarlier(_ record: JSONText) -> Bool? {
        guard entity.isDeleted(record), !entity.isDeleted(change.body), !entity.isKey(change.key, of: record)
        else { return false }
        return isEarlier(record)
    }

    /// Whether the record was last changed more than `span` before the first attempt. Nil if that is unknown.
    private func isEarlier(_ record: JSONText, by span: Duration = .zero) -> Bool? {
        guard let clockOffset = reconciler.clockOffset, let first = change.firstAttemptAt ?? change.lastAttemptAt,
            let time = entity.changeTime(of: record)
        else { return nil }
        return time < first + clockOffset - Self.tolerance - span
    }

    /// Whether the record's change time is that of a day, such as `2026-01-31`: midnight, however it is written.
    private func hasDayAlone(_ record: JSONText) -> Bool {
        entity.changeTime(of: record).map { $0.milliseconds.isMultiple(of: 86_400_000) } ?? false
    }

    /// Clocks are measured to the second, and change times may have whole seconds.
    private static let tolerance = Duration.seconds(2)

    /// Whether the server changed the record after the attempt. A time in the future says nothing.
    private func isNewer(_ record: JSONText) -> Bool {
        guard let clockOffset = reconciler.clockOffset, let attempt = change.lastAttemptAt,
            let time = entity.changeTime(of: record)
        else { return false }
        return time > attempt + clockOffset + Self.tolerance && time <= now + clockOffset + Self.tolerance
    }
}
