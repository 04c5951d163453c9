import EntitySchema
import JSONText
import Logging
import ReferenceUpstream
import SyncEngine
import TestSupport
import Upstream

@testable import CacheStore

/// Serves a drafted schema by the reference upstream, and syncs each of its entities both ways.
struct DraftTrial {
    private let schema: EntitySchema
    private let reference: ReferenceUpstream
    private let store: CacheStore
    private let engine: SyncEngine
    private let now: @Sendable () -> Timestamp

    init(_ schema: EntitySchema) throws {
        self.schema = schema
        let start = ContinuousClock.now
        let now: @Sendable () -> Timestamp = { .sample + start.duration(to: .now) }
        self.now = now
        let records = SampleGenerator(schema: schema, rows: 12, seed: 7).records()
        reference = ReferenceUpstream(schema: schema, records: records, now: now)
        store = try CacheStore.temporary(schema)
        let upstream = HTTPUpstream(
            plan: schema.upstream, baseURL: "http://localhost", transport: CallTransport(reference: reference), now: now
        )
        engine = SyncEngine(
            store: store, upstream: upstream,
            settings: SyncSettings(writeDelay: .zero, retry: RetryPolicy(maximumAttempts: 2)),
            time: SyncTime(clock: ContinuousClock(), now: now), random: { 0.5 },
            log: .silent)
    }

    /// How long changes may take; those that have not arrived by then are problems.
    private static let patience = Duration.seconds(20)

    /// What did not work, by entity; entities that sync both ways are not in it.
    func problems() async throws -> [String: String] {
        let task = Task { try await engine.run() }
        defer { task.cancel() }
        var problems: [String: String] = [:]
        let remote = try await pulled(&problems)
        let local = try await written(&problems)
        for (entity, problem) in try await checked(remote, local) where problems[entity] == nil {
            problems[entity] = problem
        }
        return problems
    }

    // MARK: From the upstream

    private struct Edit {
        var key: String
        /// The key that it has here.
        var here: String
        var field: String
        var value: JSONText
    }

    /// Pulls everything; then edits one record of each entity upstream and pulls again.
    private func pulled(_ problems: inout [String: String]) async throws -> [String: Edit] {
        // What fails for one entity shows below; the others were pulled all the same.
        try? await engine.sync(SyncRequest(full: true))
        let counts = try store.rowCounts()
        var edits: [String: Edit] = [:]
        for entity in schema.entities {
            let there = reference.records(of: entity.name)
            guard !there.isEmpty, counts[entity.name] == there.count else {
                let reason = try store.cursor(of: entity.name).error ?? ""
                problems[entity.name] = "\(counts[entity.name] ?? 0) of \(there.count) records arrived \(reason)"
                continue
            }
            guard let edit = edit(of: entity, there[0], "there") else { continue }
            try reference.update(entity.name, edit.key, with: .object([edit.field: edit.value]))
            edits[entity.name] = edit
        }
        try? await engine.sync(SyncRequest(full: true))
        return edits
    }

    private func edit(of entity: Entity, _ record: JSONText, _ text: String, among fields: [Field]? = nil) -> Edit? {
        let used =
            [entity.pull?.changedAt, entity.pull?.deleted?.name, entity.key].compactMap(\.self) + Self.parts(of: entity)
        let paths =
            Operation.allCases.flatMap(entity.routes).flatMap(\.path.placeholders)
            + (entity.pull?.single.path.placeholders ?? [])
        for field in fields ?? entity.fields where !used.contains(field.name) && !paths.contains(field.name) {
            guard !field.secret, field.source == nil || fields != nil, let value = value(of: field, text, record) else {
                continue
            }
            return Edit(
                key: record[entity.key]?.plain ?? "", here: Self.keyHere(record, of: entity), field: field.name,
                value: value)
        }
        return nil
    }

    /// The places of the values of which a key is made here; empty for other keys.
    private static func parts(of entity: Entity) -> [String] {
        guard let lift = entity.lift, lift.isMade(entity.key) else { return [] }
        return lift.paths
    }

    /// The key that a record of the upstream's has here.
    private static func keyHere(_ record: JSONText, of entity: Entity) -> String {
        let shown = parts(of: entity).isEmpty ? record : entity.lift?.lifted(record) ?? record
        return shown[entity.key]?.plain ?? ""
    }

    /// Another value than the record has.
    private func value(of field: Field, _ text: String, _ record: JSONText) -> JSONText? {
        let old = field.value(in: record)
        switch field.kind {
        case .string: return .string("\(text) \(field.name)")
        case .integer: return field.isTextOnWire ? .string("\(4711 + text.count)") : .integer(4711 + text.count)
        case .number, .money: return field.isTextOnWire ? .string("47.\(text.count)") : .integer(47 + text.count)
        case .boolean: return .boolean(old?.boolean != true)
        case .enum(let values): return values.map(\.value).first { $0 != old?.string }.map(JSONText.string)
        case .object: return .object(["mark": .string(text)])
        case .list: return .array([JSONText.string(text)])
        case .time, .date, .reference: return nil
        }
    }

    // MARK: From here

    private struct Writes {
        var edits: [String: Edit] = [:]
        var created: [String: String] = [:]
        var deleted: [String: String] = [:]
    }

    /// Changes, creates and deletes one record of each entity here, where the schema has routes for it.
    private func written(_ problems: inout [String: String]) async throws -> Writes {
        var writes = Writes()
        for entity in schema.entities where problems[entity.name] == nil {
            do {
                try await write(entity, &writes)
            } catch {
                problems[entity.name] = "a write is refused here: \(error)"
            }
        }
        engine.noteLocalWrite()
        let start = ContinuousClock.now
        while try store.pendingCount().pending > 0, start.duration(to: .now) < Self.patience {
            try await Task.sleep(for: .milliseconds(5))
        }
        return writes
    }

    private func write(_ entity: Entity, _ writes: inout Writes) async throws {
        let there = reference.records(of: entity.name)
        if !entity.push.update.isEmpty, there.count > 1,
            let edit = edit(of: entity, there[1], "here", among: entity.writable(by: .update))
        {
            let value = entity[field: edit.field]?.meant(edit.value) ?? edit.value
            try await store.update(
                entity.name, key: edit.here, body: .object([edit.field: value]), at: now())
            writes.edits[entity.name] = edit
        }
        if !entity.push.create.isEmpty, let body = creation(of: entity, like: there[there.count - 1]) {
            writes.created[entity.name] = try await store.create(entity.name, body: body, at: now())
        }
        if !entity.push.delete.isEmpty, there.count > 2, !isReferredTo(entity) {
            try await store.delete(entity.name, key: Self.keyHere(there[2], of: entity), at: now())
            writes.deleted[entity.name] = there[2][entity.key]?.plain ?? ""
        }
    }

    private func isReferredTo(_ entity: Entity) -> Bool {
        schema.entities.contains { other in other.fields.contains { $0.kind == .reference(to: entity.name) } }
    }

    /// A new record with the values of another, but for its key.
    private func creation(of entity: Entity, like record: JSONText) -> JSONText? {
        var members: [(key: String, value: JSONText)] = []
        let parts = Self.parts(of: entity)
        for field in entity.writable(by: .create) where field.name != entity.key {
            if parts.contains(field.name), case .string = field.kind {
                members.append((field.name, .string("new \(field.name)")))
                continue
            }
            guard let value = entity.value(of: field.name, in: record), value != .null else {
                if field.required, let value = self.value(of: field, "new", record) ?? known(field) {
                    members.append((field.name, value))
                }
                continue
            }
            members.append((field.name, field.meant(value)))
        }
        return .object(members: members)
    }

    /// The key of any record that the field may refer to.
    private func known(_ field: Field) -> JSONText? {
        guard case .reference(let name) = field.kind, let other = schema[name] else { return nil }
        return reference.records(of: name).first?[other.key]
    }

    // MARK: Checking

    private func checked(_ remote: [String: Edit], _ local: Writes) async throws -> [String: String] {
        let failed = try store.pending(PendingQuery(limit: 200)).changes
        var problems: [String: String] = [:]
        for change in failed {
            problems[change["entity"]?.plain ?? ""] =
                "\(change["operation"]?.plain ?? "") \(change["error"]?.plain ?? change.text)"
        }
        for (name, edit) in remote {
            let here = try store.record(name, key: edit.here).map { try JSONText($0) }
            if here?[edit.field] != edit.value { problems[name] = "an edit of \(edit.field) there has not arrived" }
        }
        for (name, edit) in local.edits {
            guard let entity = schema[name], let there = reference.record(name, edit.key) else { continue }
            let value = entity.value(of: edit.field, in: there)
            if value != edit.value {
                problems[name] = problems[name] ?? "an edit of \(edit.field) here has not arrived: \(value?.text ?? "")"
            }
        }
        for (name, key) in local.created {
            guard let entity = schema[name] else { continue }
            let here = try store.record(name, key: key).map { try JSONText($0) }
            let key = here?[entity.key]?.plain ?? ""
            if !reference.records(of: name).contains(where: { Self.keyHere($0, of: entity) == key }) {
                problems[name] = problems[name] ?? "a new record has not arrived"
            }
        }
        for (name, key) in local.deleted where reference.record(name, key) != nil {
            problems[name] = problems[name] ?? "a deletion has not arrived"
        }
        return problems
    }
}
