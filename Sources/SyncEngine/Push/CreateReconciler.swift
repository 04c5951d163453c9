internal import CacheStore
internal import ContentStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Finds out whether a creation was applied when its answer was lost and no idempotency key allows a blind repeat.
///
/// An upstream whose lists lag behind does not show a record that it has, and one that answered late or not at all may
/// still be applying it. So a record counts as absent only once the time to settle has passed, and either its list has a
/// change from after the attempt, or two readings agree.
struct CreateReconciler {
    enum Finding {
        /// The upstream has it, as this record.
        case applied(RemoteRecord)
        /// The upstream does not have it: send it again.
        case absent
        /// It cannot be said yet: ask again later. The text says why.
        case notYet(String)
        /// It cannot be found out; the text says why, for the person who has to.
        case unknowable(String)
    }

    let reader: RecordReader
    let now: Timestamp
    /// How far the server's clock is ahead; nil if it was never measured.
    var clockOffset: Duration?
    /// Where contents are fetched to; nil if they are not.
    var contents: ContentFolder?
    /// Of one reading of a list: each takes some memory.
    var mostRecords = 1_000_000
    let monotonicNow: @Sendable () -> Timestamp

    private var store: CacheStore { reader.store }
    private var upstream: any Upstream { reader.upstream }
    private var judge: AbsenceJudge {
        AbsenceJudge(store: store, upstream: upstream, schema: reader.schema, now: { [now] in now })
    }

    func finding(for change: OutboxChange, _ entity: Entity) async throws -> Finding {
        do {
            return try await lookUp(change, entity)
        } catch UpstreamError.gone(let status, let message) {
            // The list of its siblings is gone: with their parent, or behind a gateway.
            guard hasSettled(change) else { return .notYet(message) }
            guard let parent = try reader.parent(of: entity, change.record),
                try await judge.verdict(on: parent.record, of: parent.entity) == .gone
            else { throw UpstreamError.gone(status: status, message) }
            return .absent
        }
    }

    private func lookUp(_ change: OutboxChange, _ entity: Entity) async throws -> Finding {
        switch entity.route(for: .create, record: change.record)?.lookUp {
        case nil:
            return .unknowable("the schema has no look_up")
        case .key:
            return try await finding(byKey: change, entity)
        case .match(let fields, let path, let list):
            let sent = fields.filter { change.body[$0] != nil }
            guard let request = listRequest(path, list, change, entity), !sent.isEmpty else {
                return .unknowable("the look-up finds nothing to compare by")
            }
            return try await match(request, sent, change, entity)
        }
    }

    /// Asks for the list at `path`, or for all of the entity's own. Nil if the record lacks a value of the path.
    private func listRequest(
        _ path: Template?, _ list: ListPlan, _ change: OutboxChange, _ entity: Entity
    ) -> PageRequest? {
        guard let path else {
            var request = entity.pull?.request(of: entity.name)
            request?.list = list
            return request
        }
        return entity.path(path, of: change.record).map { PageRequest(entity: entity.name, path: $0, list: list) }
    }

    /// Whether the upstream shows everything that the attempt did, wherever it is asked.
    func hasSettled(_ change: OutboxChange) -> Bool {
        guard let attempt = change.lastAttemptAt, attempt <= now else { return true }
        return now.since(attempt) >= reader.schema.upstream.settle
    }

    /// Whether the upstream may be taken to know the idempotency key still: no one says for how long it does, so only
    /// for the time to settle after it was first used.
    func knowsKey(of change: OutboxChange) -> Bool {
        guard let first = change.firstAttemptAt ?? change.lastAttemptAt, first <= now else { return false }
        return now.since(first) < reader.schema.upstream.settle
    }

    // MARK: By the key

    private func finding(byKey change: OutboxChange, _ entity: Entity) async throws -> Finding {
        do {
            return try await finding(bySingle: change, entity)
        } catch UpstreamError.refused {
            return try await finding(inList: change, entity)
        }
    }

    /// Searches the list of an upstream that serves no single records.
    private func finding(inList change: OutboxChange, _ entity: Entity) async throws -> Finding {
        guard let plan = entity.pull, change.body[entity.key] != nil else {
            return .unknowable("the upstream serves no single \(entity.name)")
        }
        let request = plan.request(of: entity.name)
        return try await match(request, [entity.key], change, entity)
    }

    private func finding(bySingle change: OutboxChange, _ entity: Entity) async throws -> Finding {
        if let found = try await own(change, entity) { return .applied(found) }
        guard hasSettled(change) else { return .notYet("the upstream does not show the record yet") }
        // That it has another one shows that it serves single records, and this account.
        if try store.anotherRecord(of: entity.name, than: [change.key]).flatMap(entity.recordPath) != nil,
            try await !judge.servesAnother(of: entity, than: [change.key])
        {
            guard try judge.hasServed(entity) else { return try await finding(inList: change, entity) }
            guard try await judge.servesListed(of: entity, than: [change.key]) else {
                throw UpstreamError.unclear(
                    status: 404, "asked for a record that it lists, the upstream answers that there is none")
            }
        }
        if let found = try await own(change, entity) { return .applied(found) }
        return .absent
    }

    /// What the upstream has under the key; nil if it has nothing there. Throws `.refused` for another record. One whose key
    /// differs is the creation's only with what was sent.
    private func own(_ change: OutboxChange, _ entity: Entity) async throws -> RemoteRecord? {
        guard let found = try await reader.answer(of: entity, known: change.record) else { return nil }
        guard let key = found.record[entity.key]?.plain, key != change.key else { return found }
        let isKnown = try store.wasKnown(key, before: change)
        guard change.isMade(into: found.record, of: entity, isKnown: isKnown) else {
            throw RecordReader.anotherRecord(found.record, than: change.record, entity)
        }
        return found
    }

    // MARK: By its values

    /// Searches a list for a record that has the same values and was not known before.
    ///
    /// In a list of several pages the record may slide past them while they are read. It counts as absent when the next
    /// reading shows the same records again, in the same order: their keys and what the look-up compares, since other
    /// members may change with each reading. If others keep adding records, three readings are needed, each of which
    /// has all that the one before had. If the list keeps changing otherwise, it is read again later; after a day, the
    /// creation is left to a person.
    private func match(
        _ request: PageRequest, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> Finding {
        var before: Reading?
        var extensions = 0
        for _ in 1...Self.mostReadings {
            let reading = try await read(request, fields, change, entity)
            if let found = reading.found { return .applied(found) }
            if let doubt = reading.doubt { return .unknowable("the list may be cut: \(doubt)") }
            guard hasSettled(change) else { return .notYet("the upstream may still apply the attempt") }
            let isSame = before.map(reading.isSame) ?? false
            extensions = before.map(reading.extends) ?? false ? extensions + 1 : 0
            // A list that grows while it is read has a greater total in the end.
            if reading.isNewer && reading.pages == 1 || isSame || extensions == 2 && reading.missing == 0 {
                return try await finding(reading, fields, change, entity)
            }
            before = reading
        }
        let restless = "\(request.path) kept changing while it was read"
        guard isLongSince(change) else { return .notYet(restless) }
        return .unknowable("\(restless) for a day (a look_up with a path that names the record avoids this)")
    }

    /// Whether a look-up has been repeated for so long that a quiet moment of the list is unlikely.
    private func isLongSince(_ change: OutboxChange) -> Bool {
        guard let attempt = change.lastAttemptAt, change.tried >= Self.leastLookUps else { return false }
        return now.since(attempt) >= .seconds(86_400)
    }

    /// With fewer, the machine may have been off for most of the day.
    private static let leastLookUps = 20

    /// What a list says that does not have the record.
    private func finding(
        _ reading: Reading, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> Finding {
        if let near = reading.near ?? (reading.isTelling ? nil : reading.hidden) {
            return .unknowable("the upstream has a record that may be this one: \(near)")
        }
        if let twin = try editedTwin(of: change, entity, fields) {
            return .unknowable(
                "\(twin) came after the attempt, and may be this one, with other values since it was edited here")
        }
        if reading.missing > 0 {
            return .unknowable("the list may be cut: its total is \(reading.missing) more than its records")
        }
        // An account that may see nothing is shown no records either.
        guard try await judge.isServing(entity) else {
            throw UpstreamError.barred(
                status: 404, "a lost creation is looked up, and the upstream shows no \(entity.name) at all")
        }
        return .absent
    }

    /// The key of a record that came after the attempt and was edited here since, in what the look-up compares. Before that it
    /// may have had all that was sent.
    private func editedTwin(of change: OutboxChange, _ entity: Entity, _ fields: [String]) throws -> String? {
        try store.editedTwins(of: change).first { twin in
            !twin.fields.isDisjoint(with: fields)
                && change.isSaid(by: twin.record, of: entity, fields.filter { !twin.fields.contains($0) })
        }.map { entity.shownKey(of: $0.record) }
    }

    private static let mostReadings = 4

    private struct Reading {
        var found: RemoteRecord?
        /// The key of a record that is nearly the same.
        var near: String?
        /// Some record shows a field of the look-up.
        var isTelling = false
        /// The key of a record that shows none, and was not known.
        var hidden: String?
        /// The list has a change from after the attempt.
        var isNewer = false
        var pages = 0
        var records = 0
        /// Of each record's key and what the look-up compares, in the order in which they were first shown.
        var digests: [Int] = []
        /// Why the list may be cut; nil if nothing suggests it.
        var doubt: String?
        /// How many fewer records the list showed than its total.
        var missing = 0

        func isSame(as other: Reading) -> Bool { digests == other.digests && records == other.records }

        /// Whether it shows all records of an earlier reading, as they were and in their order, and some more. A record that
        /// had made others slide in that reading would be missing, or in another place.
        func extends(_ earlier: Reading) -> Bool {
            var rest = earlier.digests[...]
            guard !rest.isEmpty else { return false }
            for digest in digests where digest == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }

    /// Reads the list once, or until the record is found.
    private func read(
        _ request: PageRequest, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> Reading {
        var request = request
        var trail = PageTrail()
        var reading = Reading()
        var seen: Set<Int> = []
        repeat {
            let page = try await upstream.page(request)
            // The records are small texts by now, and more is read before the next page.
            page.share?.release()
            try trail.add(page, of: request.path, askedAt: request.position, key: entity.key)
            for record in page.records.elements {
                // Comparing long texts with many records can take minutes, in which all else must go on. Unlike `Task.yield()`, a
                // task is enqueued by the runtime's hook, so that simulations decide what goes on.
                await Task {}.value
                guard !Task.isCancelled else { throw UpstreamError.cancelled }
                let digest = digest(of: record, fields, entity)
                if seen.insert(digest).inserted { reading.digests.append(digest) }
                try await compare(record, fields, change, entity, &reading)
                if reading.found != nil { return reading }
            }
            reading.pages += 1
            reading.records += page.count
            guard reading.records <= mostRecords else {
                reading.doubt = "it has more than \(mostRecords.grouped) records, and no more are read"
                return reading
            }
            request.position = page.next
            if page.next == nil {
                reading.doubt = ListDoubt.reason(
                    request.list, pages: reading.pages, records: reading.records, last: page)
                reading.missing = max(0, (page.total ?? 0) - reading.records)
            }
        } while request.position != nil
        return reading
    }

    /// Notes in the reading what one listed record says about the creation.
    private func compare(
        _ record: JSONText, _ fields: [String], _ change: OutboxChange, _ entity: Entity, _ reading: inout Reading
    ) async throws {
        reading.isNewer = reading.isNewer || isNewer(record, than: change, entity)
        let tells = fields.contains { entity.value(of: $0, in: record) != nil }
        reading.isTelling = reading.isTelling || tells
        guard let near = try await candidate(record, fields, change, entity) else { return }
        let witness = ContentWitness(store: store, upstream: upstream, contents: contents, monotonicNow: monotonicNow)
        let verdict = try await witness.verdict(on: near.record, for: change, entity)
        if verdict == .another { return }
        let isOwn = verdict == .own && mayBeOwn(near.record, change, entity)
        if isOwn, change.isSaid(by: near.record, of: entity, fields) {
            reading.found = near
            return
        }
        let key = entity.shownKey(of: near.record)
        if tells { reading.near = key } else { reading.hidden = key }
    }

    private func digest(of record: JSONText, _ fields: [String], _ entity: Entity) -> Int {
        var hasher = Hasher()
        hasher.combine(record[entity.key]?.plain ?? record.text)
        for field in fields { hasher.combine(entity.value(of: field, in: record)?.text) }
        hasher.combine(entity.isDeleted(record))
        return hasher.finalize()
    }

    /// A listed record that may be the one that was created: read by its key if the list shows less than was sent.
    private func candidate(
        _ record: JSONText, _ fields: [String], _ change: OutboxChange, _ entity: Entity
    ) async throws -> RemoteRecord? {
        let shown = fields.filter { entity.value(of: $0, in: record) != nil }
        let isPartial = shown.count < fields.count && change.isSaid(by: record, of: entity, shown)
        guard isPartial || change.isSaid(by: record, of: entity, fields) || change.mayBe(record, of: entity, fields),
            let key = record[entity.key]?.plain, !key.isEmpty
        else { return nil }
        // If the record already has its final key, the change itself made that key known.
        guard try key == change.key || !store.wasKnown(key, before: change) else { return nil }
        guard wasDeleted(record, before: change, entity) != true else { return nil }
        guard isPartial, entity.recordPath(of: record) != nil else { return RemoteRecord(record) }
        guard let whole = try await upstream.record(of: entity, known: record) else {
            return RemoteRecord(record)
        }
        let isOther =
            fields.allSatisfy { entity.value(of: $0, in: whole.record) != nil }
            && !change.isSaid(by: whole.record, of: entity, fields)
            && !change.mayBe(whole.record, of: entity, fields)
        return isOther ? nil : whole
    }

    /// Not if its key cannot be one, or if it was, or may have been, deleted before the creation was sent.
    private func mayBeOwn(_ record: JSONText, _ change: OutboxChange, _ entity: Entity) -> Bool {
        !entity.hasUnusableKey(record) && wasDeleted(record, before: change, entity) == false
    }

    /// Whether the upstream deleted it before the first attempt, so that it is another one. Nil if it is marked as deleted,
    /// and that cannot be said. Under the key that was made here, or if the creation itself has the mark, it is the
    /// change's own.
    private func wasDeleted(_ record: JSONText, before change: OutboxChange, _ entity: Entity) -> Bool? {
        guard entity.isDeleted(record), !entity.isDeleted(change.body), record[entity.key]?.plain != change.key
        else { return false }
        guard let clockOffset, let first = change.firstAttemptAt ?? change.lastAttemptAt,
            let time = entity.changeTime(of: record)
        else { return nil }
        return time < first + clockOffset - Self.tolerance
    }

    /// Clocks are measured to the second, and change times may have whole seconds.
    private static let tolerance = Duration.seconds(2)

    /// Whether the server changed the record after the attempt. A time in the future says nothing.
    private func isNewer(_ record: JSONText, than change: OutboxChange, _ entity: Entity) -> Bool {
        guard let clockOffset, let attempt = change.lastAttemptAt, let time = entity.changeTime(of: record)
        else { return false }
        return time > attempt + clockOffset + Self.tolerance && time <= now + clockOffset + Self.tolerance
    }
}
