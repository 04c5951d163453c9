internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// What an entity's list says: whether the upstream serves it, and whether it has a record.
extension AbsenceJudge {
    /// Whether the upstream serves the list of an entity, with content if the cache has some from it. Throws `.barred`
    /// when it answers that there is no such list.
    func isServing(_ entity: Entity) async throws -> Bool {
        guard let plan = entity.pull else { return try await isWell(beside: entity) != false }
        return try await page(plan, of: entity).count > 0 || !expectsRecords(of: entity)
    }

    /// Whether the upstream shows records: in the list of a changed record's entity, by their keys, or, if the change
    /// itself may have emptied that list, in another one that must have content.
    func isShowing(_ entity: Entity, besides changed: String) async throws -> Bool {
        guard let plan = entity.pull else { return try await isWell(beside: entity) != false }
        guard try await page(plan, of: entity).count == 0 else { return true }
        let isExpected = try expectsRecords(of: entity)
        if isExpected, plan.window == nil, try store.anotherRecord(of: entity.name, than: [changed]) != nil {
            // A list may leave out records that are served by their keys, such as drafts.
            guard try hasServed(entity) else { return false }
            return try await servesAnother(of: entity, than: [changed])
        }
        let isWell = try await isWell(beside: entity)
        return isExpected ? isWell == true : isWell != false
    }

    /// Whether something else is served now that must be there; nil if there is nothing to ask for. The account does not
    /// count: even a caller who may see nothing can ask who is signed in.
    func isWell(beside entity: Entity) async throws -> Bool? {
        var isWell: Bool?
        let others = try store.schema.entities.filter {
            // Where all records are only here, such as creations that failed, the list may well be empty.
            try $0.name != entity.name && $0.pull != nil && store.anotherRecord(of: $0.name, than: []) != nil
                && store.expectsList(of: $0, at: upstreamTime())
        }
        for other in others.prefix(2) {
            guard let plan = other.pull else { continue }
            isWell = false
            if try await page(plan, of: other).count > 0 { return true }
        }
        return isWell
    }

    /// Whether the list must have content, going by what is cached.
    private func expectsRecords(of entity: Entity) throws -> Bool {
        guard entity.pull?.window == nil else { return try store.expectsList(of: entity, at: upstreamTime()) }
        return try store.anotherRecord(of: entity.name, than: []) != nil
    }

    // MARK: A record in a list

    /// Whether the first pages of the list have a record that its own address has not. Both cannot be right: the list may
    /// be behind, or the account may see the record and not read it.
    func lists(_ known: JSONText, of entity: Entity) async throws -> Bool {
        guard let plan = entity.pull, let key = known[entity.key]?.plain, entity.recordPath(of: known) != nil else {
            return false
        }
        var position: String?
        for _ in 1...Self.mostPages {
            let page = try await page(plan, of: entity, at: position)
            if case .here = verdict(on: key, in: page.records, of: entity) { return true }
            guard let next = page.next else { return false }
            position = next
        }
        return false
    }

    /// Whether the upstream serves, by its key, a record that its list shows now: the few others that the cache has may all
    /// be gone as well, outside of a window.
    func servesListed(of entity: Entity, than keys: [String]) async throws -> Bool {
        guard let plan = entity.pull else { return false }
        let listed = try await page(plan, of: entity).records
        guard let shown = witness(in: listed, than: keys, of: entity) else { return false }
        return try await read(shown, of: entity).map { entity.haveSameKey($0.record, shown) } ?? false
    }

    func search(
        for known: JSONText, _ key: String, of entity: Entity, _ plan: PullPlan, isReadable: Bool
    ) async throws -> Verdict {
        let first = try await page(plan, of: entity)
        if let verdict = verdict(on: key, in: first.records, of: entity) { return verdict }
        guard first.count > 0 else { return try await verdictOfEmptyList(entity) }
        if isReadable {
            let shown = witness(in: first.records, than: [key], of: entity)
            if let shown, try await read(shown, of: entity) != nil { return try await repeated(known, key, of: entity) }
            if try hasServed(entity) {
                guard let shown else { return .gone }
                throw UpstreamError.barred(
                    status: 404,
                    "\(plan.path) lists \(shown[entity.key]?.plain ?? "a record"), but asked for it, the upstream answers "
                        + "that there is none")
            }
        }
        if let window = try store.window(of: entity, at: upstreamTime()), !window.holds(for: known, of: entity) {
            return .cannotSay("\(entity.name)/\(key) is outside of pull.where, so its list need not show it")
        }
        for _ in 1...2 {
            let reading = try await read(plan, of: entity, for: key)
            if let verdict = reading { return verdict }
        }
        return .gone
    }

    private func verdict(on key: String, in records: JSONText, of entity: Entity) -> Verdict? {
        records.elements.first { entity.isKey(key, of: $0) }.map { record in
            entity.isDeleted(record) ? .gone : .here(RemoteRecord(record))
        }
    }

    /// Reads the whole list; nil if it is complete and lacks the record.
    private func read(_ plan: PullPlan, of entity: Entity, for key: String) async throws -> Verdict? {
        var list = ListReading(plan.list, at: plan.path, key: entity.key)
        repeat {
            guard list.pages < Self.mostPages else {
                return .cannotSay("the upstream serves no single \(entity.name), and their list is too long to search")
            }
            let page = try await page(plan, of: entity, at: list.position)
            if let verdict = verdict(on: key, in: page.records, of: entity) { return verdict }
            do { try list.add(page) } catch { return .cannotSay(error.message) }
        } while list.position != nil
        if let cut = list.cut { return .cannotSay("the list of \(entity.name) may be cut: \(cut)") }
        if let total = list.total, total != list.records {
            return .cannotSay("the list of \(entity.name) shows \(list.records) of \(total)")
        }
        return nil
    }

    /// An empty list may be what an expired token gets to see.
    private func verdictOfEmptyList(_ entity: Entity) async throws -> Verdict {
        let isWell = try await isWell(beside: entity)
        let rows = try store.expectsList(of: entity, at: upstreamTime()) ? store.rowCount(of: entity.name) : 0
        if isWell == true, rows <= 1 { return .gone }
        guard isWell != false else {
            throw UpstreamError.barred(
                status: 404, "the upstream answers with nothing to every request, as it does for an expired token")
        }
        let reason = "the list of \(entity.name) is empty, the cache has \(rows.grouped)"
        guard rows <= 1 else { throw UpstreamError.barred(status: 404, reason) }
        return .cannotSay(reason)
    }

    /// A record of a list that must be served by its key too.
    private func witness(in records: JSONText, than keys: [String], of entity: Entity) -> JSONText? {
        let others = keys.exactSet
        return records.elements.first { record in
            guard let key = record[entity.key]?.plain, !others.contains(key.exact) else { return false }
            return !entity.isDeleted(record) && entity.recordPath(of: record) != nil
        }
    }

    private func page(_ plan: PullPlan, of entity: Entity, at position: String? = nil) async throws -> Page {
        let request = plan.request(of: entity.name, at: position)
        do throws(UpstreamError) {
            let page = try await upstream.page(request)
            // More is asked for while it is looked at.
            page.share?.release()
            return page
        } catch .gone(let status, let message) {
            throw UpstreamError.barred(status: status, message)
        }
    }

    /// The most pages of a list that are read to find one record.
    private static let mostPages = 3
}
