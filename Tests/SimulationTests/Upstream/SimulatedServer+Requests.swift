import EntitySchema
import JSONText
import Synchronization
import Upstream

/// Serves the daemons' requests at the moment they arrive.
extension SimulatedServer {
    typealias Answer<Value> = Result<Value, UpstreamError>

    // MARK: Lists

    func page(_ request: PageRequest) -> Answer<Page> {
        if [Feeds.eventsPath, Feeds.deletionsPath].contains(request.path), let answer = feedPage(request) {
            return answer
        }
        guard let (entity, parent) = list(at: request.path) else {
            return .failure(.gone(status: 404, "no list \(request.path)"))
        }
        let poison = state.withLock { $0.poisoned[entity] }
        if poison == .alwaysFails { return .failure(.unclear(status: 500, "poisoned")) }
        if poison == .alwaysRefuses { return .failure(.malformed("poisoned: no list here")) }
        if poison == nil, let answer = feedPage(request) { return answer }
        let rows = listed(
            entity, of: parent, since: request.since.flatMap { Timestamp(iso8601: $0.value) },
            before: request.values.until.flatMap(Timestamp.init(iso8601:)))
        let number = request.position.flatMap { Int($0) } ?? 1
        let size = settings.pageSize
        let shown = rows.dropFirst((number - 1) * size).prefix(size)
        let isLast = shown.isEmpty || number * size >= rows.count
        return .success(
            Page(
                records: .array(shown.map(\.record)), count: shown.count, total: rows.count,
                next: poison == .alwaysLoops ? "1" : isLast ? nil : "\(number + 1)"))
    }

    /// `/customers`, or `/customers/c1/visits` for the visits of an existing customer.
    private func list(at path: String) -> (entity: String, parent: String?)? {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count == 3, let (_, parent) = SimulationSettings.parents[parts[2]] else {
            return schema.entities.first { $0.pull?.path == path }.map { ($0.name, nil) }
        }
        guard parts[0] == parent, let row = row(parent, parts[1]), !row.isDeleted else { return nil }
        return (parts[2], parts[1])
    }

    private func listed(_ entity: String, of parent: String?, since: Timestamp?, before: Timestamp?) -> [Row] {
        let mode = schema[entity]?.pull?.mode ?? .full
        var rows = rows(entity).filter { row in
            if let parent, row.record[SimulationSettings.parents[entity]?.0 ?? ""] != .string(parent) { return false }
            if row.isDeleted, schema[entity]?.tombstones != nil { return false }
            if let before, row.changedAt >= before { return false }
            if let since { return row.changedAt >= since }
            // A list that cannot be filtered by change time has no tombstones either.
            return !row.isDeleted || mode != .full && schema[entity]?.tombstones == nil
        }
        if mode == .newestFirst {
            rows.sort { ($0.changedAt, $0.key) > ($1.changedAt, $1.key) }
        } else if !settings.sortsByKey, mode != .full {
            rows.sort { ($0.changedAt, $0.key) < ($1.changedAt, $1.key) }
        }
        return rows
    }

    func record(of entity: Entity, known: JSONText) -> Answer<RemoteRecord?> {
        guard let key = known[entity.key]?.plain, let row = row(entity.name, key), !row.isDeleted else {
            return .success(nil)
        }
        return .success(RemoteRecord(row.record, version: version(row)))
    }

    private func version(_ row: Row) -> String? { settings.versions ? row.changedAt.description : nil }

    // MARK: Changes

    func push(_ request: PushRequest, key idempotencyKey: String, from daemon: Int) -> Answer<RemoteRecord?> {
        state.withLock { state in
            if settings.idempotency, let known = state.answers[idempotencyKey] {
                log.add("server already knows \(idempotencyKey)")
                return .success(known.record.map { RemoteRecord($0) })
            }
            do throws(UpstreamError) {
                let before = state.tables
                let effect = try apply(request, &state)
                let record = state.tables[effect.entity]?[effect.key].flatMap { $0.isDeleted ? nil : $0.record }
                let markers = (request.body?.members ?? []).compactMap { member -> String? in
                    SimulationSettings.markedFields[effect.entity]?.contains(member.key) == true
                        ? member.value.string : nil
                }
                let replaced = before[effect.entity]?[effect.key]?.record.members.compactMap(\.value.string) ?? []
                var made = Effect(
                    daemon: daemon, idempotencyKey: idempotencyKey, operation: effect.operation,
                    entity: effect.entity, key: effect.key, markers: markers, replaced: replaced)
                for earlier in state.effects where earlier.entity == made.entity {
                    let row = state.tables[earlier.entity]?[earlier.key]
                    let values = row?.record.members.compactMap(\.value.string) ?? []
                    let shared = Set(earlier.markers).intersection(markers)
                    if row?.isDeleted ?? true { made.vanished.formUnion(shared) }
                    made.overwritten.formUnion(shared.subtracting(values))
                }
                state.effects.append(made)
                state.answers[idempotencyKey] = RemoteAnswer(record: record)
                return .success(
                    record.map { RemoteRecord($0, version: settings.versions ? $0["updated_at"]?.string : nil) })
            } catch {
                return .failure(error)
            }
        }
    }

    private typealias Applied = (operation: Operation, entity: String, key: String)

    private func apply(_ request: PushRequest, _ state: inout State) throws(UpstreamError) -> Applied {
        let parts = request.path.split(separator: "/").map(String.init)
        // POST /orders/{id}/notes creates a note; all other paths start with their entity.
        guard let entity = parts.count == 3 ? parts.last : parts.first, settings.entities.contains(entity) else {
            throw .gone(status: 404, "no such path \(request.path)")
        }
        try refuse(state.poisoned[entity])
        if request.method == "POST" {
            return (.create, entity, try create(entity, request.body ?? .object([:]), &state))
        }
        let key = parts[1]
        try refuse(state.poisoned["\(entity)/\(key)"])
        guard let row = state.tables[entity]?[key] else { throw .gone(status: 404, "\(entity)/\(key) is not here") }
        guard !row.isDeleted else { throw .gone(status: 410, "\(entity)/\(key) was deleted") }
        if let version = request.version, version != row.changedAt.description {
            throw .changed(status: 412, "\(entity)/\(key) is not what it was")
        }
        if request.method == "DELETE" {
            remove(entity, key, &state)
            return (.delete, entity, key)
        }
        let body = request.body ?? .object([:])
        try requireParent(of: entity, body, &state)
        put(entity, key, row.record.setting(body), changedAt: max(now, row.changedAt), &state)
        return (.update, entity, key)
    }

    private func create(_ entity: String, _ body: JSONText, _ state: inout State) throws(UpstreamError) -> String {
        try requireParent(of: entity, body, &state)
        let given = body["id"]?.string ?? ""
        state.lastKey += 1
        let key = settings.renames || given.isEmpty ? "\(entity.prefix(1))\(state.lastKey)" : given
        guard state.tables[entity]?[key] == nil else {
            throw .changed(status: 409, "\(entity)/\(key) is here already")
        }
        put(entity, key, body.setting("id", to: .string(key)), changedAt: now, &state)
        return key
    }

    private func requireParent(of entity: String, _ body: JSONText, _ state: inout State) throws(UpstreamError) {
        guard let (field, parent) = SimulationSettings.parents[entity], let key = body[field]?.string else { return }
        guard let row = state.tables[parent]?[key], !row.isDeleted else {
            throw .refused(status: 422, "no \(parent)/\(key)")
        }
    }

    private func refuse(_ poison: Poison?) throws(UpstreamError) {
        switch poison {
        case nil, .alwaysLoops: return
        case .alwaysFails: throw .unclear(status: 500, "poisoned")
        case .alwaysRefuses: throw .refused(status: 422, "poisoned")
        }
    }
}
