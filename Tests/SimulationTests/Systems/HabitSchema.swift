import EntitySchema
import ReferenceUpstream

/// A schema with a field of every type, children and single reads, in as many variants as real APIs have.
struct HabitSchema {
    var hasIntegerKeys = false
    var hasIdempotency: Bool
    var putsWhole: Bool
    var wrapsRecords: Bool
    var hasTombstones: Bool
    var tellsTotal: Bool
    var isIncremental: Bool
    var children: Int
    var version: Int
    var policy: ConflictPolicy
    var pageSize: Int
    /// The server chooses the keys, so a creation can only be looked up by its values.
    var serverKeys = false
    /// Money is a number in quotes.
    var quotesMoney = false
    /// How the projects' fields are sent: by one route, or some of them as a form.
    var writing = Writing.plain
    /// How days and times are written upstream; nil for ISO 8601 as callers write it.
    var dayForm: String?
    var timeForm: String?
    /// How several changes go out in one request.
    var batching = Batching.none
    var batchSize = 3
    /// How projects are read and how deleted ones are found.
    var reading = Reading.plain
    /// How times are written in requests for changes; nil for ISO 8601 with milliseconds.
    var sinceFormat: String?
    var deletions = Deletions.marks
    /// Pulls of changes have a list of their own.
    var hasListOfChanges = false
    /// The paging is not declared, so a list ends where the server cuts it off.
    var pages = true

    init(drawnBy random: inout SplitMix64) {
        hasIdempotency = random.chance(0.7)
        putsWhole = random.chance(0.3)
        wrapsRecords = random.chance(0.7)
        hasTombstones = random.chance(0.6)
        tellsTotal = random.chance(0.8)
        isIncremental = random.chance(0.7)
        children = random.below(2)
        version = random.below(3)
        policy = random.pick(ConflictPolicy.allCases)
        pageSize = random.within(3...6)
    }

    enum Writing: CaseIterable {
        case plain, typed, enclosed, mergePatch, jsonPatch, form, wholeByPatch
    }

    enum Batching: CaseIterable {
        case none, keyed, plain, atomic
        /// Only new projects, by a route of their own.
        case creations
    }

    mutating func drawBatching(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x6261_7463_6800)
        batching = random.pick(Batching.allCases)
        batchSize = random.within(2...5)
    }

    mutating func drawWriting(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x656e_636f_6465)
        quotesMoney = random.chance(0.3)
        writing = random.chance(0.4) ? .plain : random.pick(Writing.allCases)
    }

    mutating func adapt(to habits: Habits, _ random: inout SplitMix64) {
        if habits[.integerIDs] || habits[.largeIDs] || habits[.hugeIDs] { hasIntegerKeys = random.chance(0.7) }
        if habits[.integerIDs] || habits[.largeIDs] || habits[.hugeIDs] || habits[.slugs] { serverKeys = true }
        if habits[.replacingPut] { putsWhole = true }
        // Only a PATCH sends a patch.
        if putsWhole, [.mergePatch, .jsonPatch].contains(writing) { writing = .enclosed }
        // A write that was accepted and then fails for its version is lost, whatever the client does.
        if habits[.later] { version = 0 }
        if habits[.bareRecords] { wrapsRecords = true }
        if habits[.equalTimes] || habits[.futureTimes] || habits[.wholeSeconds] { isIncremental = true }
        if habits[.laggingTombstones] {
            isIncremental = true
            hasTombstones = true
        }
        if habits[.wrongTotals] { tellsTotal = true }
        if habits[.cutLists] { pages = false }
        adaptReading(to: habits)
        if habits[.forgottenKeys] || habits[.repeatedRequests] || habits[.slugs] { hasIdempotency = true }
    }

    /// Deletions are tombstones, and a list has all children, also those whose parent is gone.
    mutating func listOrphans() {
        isIncremental = true
        hasTombstones = true
        reading = .plain
        deletions = .marks
        children = 0
    }

    /// Starts with other schemas: a field added and one removed, another policy, an entity with another name.
    var others: [String] {
        let policies = ConflictPolicy.allCases.filter { $0 != policy }.map(\.rawValue)
        return [withMotto] + [
            yaml.replacing("      weight: { type: number }\n", with: "").replacing("weight, ", with: ""),
            yaml.replacing("conflict: \(policy.rawValue)", with: "conflict: \(policies[0])"),
            Self.withoutTasks(yaml),
        ]
    }

    /// Calls them chores, so changes of tasks cannot be sent.
    static func withoutTasks(_ yaml: String) -> String {
        yaml.replacing("\n  tasks:", with: "\n  chores:").replacing("tasks: { of: tasks", with: "chores: { of: chores")
            .replacing("into: tasks", with: "into: chores")
    }

    /// With a field that the upstream does not have yet.
    var withMotto: String {
        yaml.replacing(
            "      note: { type: string }", with: "      note: { type: string }\n      motto: { type: string }"
        )
        .replacing("title, note, ", with: "title, note, motto, ")
    }

    var yaml: String {
        let key = hasIntegerKeys ? "integer" : "string"
        let lookUp = { (field: String) in serverKeys ? ", look_up: { match: [\(field)] }" : ", look_up: key" }
        return """
            schema: own
            upstream:
              base_url: http://simulated
              account: { path: /me, id: id }
              error_message: error
              pagination: \(paging)
              records: data
            \(wrapsRecords ? "" : "  record: item")
            \(hasIdempotency ? "  idempotency_header: Idempotency-Key" : "")
            \(batch)
            \(["", "  version: { etag: true }", "  version: { field: updated_at, header: If-Version }"][version])
            entities:
              projects:
                title: "{title}"
                conflict: \(policy.rawValue)
                fields:
                  id: { type: \(key) }
                  title: { type: string, index: true }
                  note: { type: string }
                  price: { type: money\(quotesMoney ? ", wire: string" : "") }
                  weight: { type: number }
                  size: { type: integer, index: true }
                  open: { type: boolean }
                  due: { type: time, index: true }
                  seen: { type: time\(wire(timeForm)) }
                  day: { type: date, index: true\(wire(dayForm)) }
                  stage: { type: enum, index: true, values: { \(stages) } }
                  tags: { type: list, merge: set }
                  extra: { type: object }
                  total: { type: money, from: totals.total, index: true }
                  updated_at: { type: time }
                  touched_at: { type: time }
                many:
                  tasks: { of: tasks, by: project_id, on_delete: cascade }
                pull: \(projectsPull)
                push:
                  create: { call: POST /projects, fields: [\(own)\(sent)]\(lookUp("title"))\(creationBatch) }
                  update: \(update)
                  delete: { call: "DELETE /projects/{id}" }
              tasks:
                conflict: \(policy.rawValue)
                fields:
                  id: { type: \(key) }
                  project_id: { type: reference, to: projects, index: true, required: true }
                  text: { type: string }
                  hours: { type: number }
                  updated_at: { type: time }
                \(children == 0 ? "pull: { path: /tasks, mode: full, changed_at: updated_at }" : "")
                push:
                  create: { call: POST /tasks, fields: [\(own)project_id, text, hours]\(taskLookUp) }
                  update: { call: "PATCH /tasks/{id}", fields: [text, hours] }
                  delete: { call: "DELETE /tasks/{id}" }
            """
    }

    private var batch: String {
        let element = #"method: "{$method}", url: "{$path}", body: $body"#
        let call =
            "call: POST /batch, size: \(batchSize), body: { requests: $changes }, results: results, status: status"
        let marked = #"by: { id: "{$id}" }, answer: body, element: { id: "{$id}", key: "{$key}", version: "{$version}""#
        return switch batching {
        case .none, .creations: ""
        case .keyed: "  batch: { \(call), \(marked), \(element) } }"
        case .atomic: "  batch: { \(call), \(marked), \(element) }, atomic: true }"
        case .plain: "  batch: { \(call), answer: body, element: { \(element) } }"
        }
    }

    private var creationBatch: String {
        guard batching == .creations else { return "" }
        return ", batch: { call: POST /batch, size: \(batchSize), results: results, status: status, answer: body }"
    }

    private var paging: String {
        guard pages else { return "{ style: single }" }
        return "{ style: page, page: page, size: per, page_size: \(pageSize)\(tellsTotal ? ", total: total" : "") }"
    }

    private func wire(_ form: String?) -> String { form.map { ", wire: \"\($0)\"" } ?? "" }

    private var stages: String { Marks.stages.map { "\($0): \($0)" }.joined(separator: ", ") }

    /// The key goes out where the caller chooses it.
    private var own: String { serverKeys ? "" : "id, " }

    private var sent: String { "\(simple), day, tags, extra" }

    private var update: String {
        let call = "call: \"\(putsWhole ? "PUT" : "PATCH") /projects/{id}\""
        let all = "fields: [\(sent)]"
        let slot = putsWhole ? "$record" : "$fields"
        return switch writing {
        case .plain: "{ \(call), \(all) }"
        case .typed: "{ \(call), \(all), encoding: application/vnd.api+json }"
        case .enclosed: "{ \(call), \(all), body: { data: { id: \"{id}\", project: \(slot) } } }"
        case .mergePatch: "{ \(call), \(all), encoding: application/merge-patch+json }"
        case .jsonPatch: "{ \(call), \(all), encoding: application/json-patch+json }"
        case .wholeByPatch: "{ \(call), \(all), body: { project: $record } }"
        case .form:
            // What a form cannot say has a way of its own.
            "[{ \(call), fields: [\(simple)], body: { project: \(slot) }, encoding: form }, "
                + "{ \(call), fields: [day, tags, extra] }]"
        }
    }

    private let simple = "title, note, price, weight, size, open, due, seen, stage"

    private var taskLookUp: String {
        let path = children == 1 ? ", path: \"/projects/{project_id}/tasks\"" : ""
        return serverKeys || children == 1 ? ", look_up: { match: [text, project_id]\(path) }" : ", look_up: key"
    }
}
