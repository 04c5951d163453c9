import Crypto
import EntitySchema
import Foundation
import JSONText
import LocalAPI

/// What an import does: which rows create and which update, sent in portions.
struct ImportPlan {
    struct Failure {
        var line: Int
        /// One line.
        var message: String

        init(line: Int, message: String) {
            self.line = line
            self.message = TerminalText.line(message)
        }
    }

    /// Rows that are sent in one request.
    struct Portion {
        var rows: [Operation]
        var bytes = 0
        /// Its `Idempotency-Key`.
        var key: String
        /// A creation that has a request of its own.
        var isSingle = false
    }

    struct Operation {
        var line: Int
        /// An operation of a batch.
        var body: JSONText
        var isCreation: Bool
    }

    /// As many rows, and about as many bytes, as a request has at most; the daemon takes 1000 and 1 MiB.
    private static let mostRows = 200
    private static let mostBytes = 512 << 10

    let entity: String
    let shape: EntityShape
    let isDryRun: Bool
    /// The first row that names a record which the cache does not have: it creates one, unless the upstream has it.
    private(set) var firstUnknown: Int?
    private(set) var created = 0
    private(set) var updated = 0
    /// Rows that an earlier import of the same file has created.
    private(set) var known = 0
    private(set) var failures: [Failure] = []
    private(set) var portions: [Portion] = []
    /// Of creations without an id: how often the same row has come so far, but for its secrets.
    private var repeats: [String: Int] = [:]

    init(entity: String, shape: EntityShape, isDryRun: Bool) {
        self.entity = entity
        self.shape = shape
        self.isDryRun = isDryRun
    }

    // MARK: Planning

    /// Decides what a row does; it is counted when it is sent.
    mutating func add(_ row: ImportRow, _ client: LocalAPIClient) async throws(LocalAPIError) {
        if let problem = row.problem { return fail(row, problem) }
        let named = row.value(of: shape.key)
        do throws(LocalAPIError) {
            if let (key, record) = try await existing(named, row, client) { return addUpdate(of: key, record, row) }
        } catch {
            guard case .problem(let problem) = error, problem.code == "ambiguous_id" else { throw error }
            return fail(row, problem.message)
        }
        if let problem = problem(with: row.fields) ?? lack(of: row.fields) { return fail(row, problem) }
        if named != nil || shape.naturalKeys.contains(where: { row.value(of: $0) != nil }) {
            firstUnknown = firstUnknown ?? row.line
        }
        if !isRefused("create", row) { addCreation(row, isNamed: named != nil) }
    }

    private mutating func fail(_ row: ImportRow, _ problem: String) {
        failures.append(Failure(line: row.line, message: problem))
    }

    /// Whether a dry run knows that the daemon would refuse this, because no route of the schema sends it.
    private mutating func isRefused(_ operation: String, _ row: ImportRow) -> Bool {
        guard isDryRun, shape.document[operation]?.kind == .null else { return false }
        let what = operation == "create" ? "no \(entity) can be created" : "\(entity) cannot be changed"
        failures.append(Failure(line: row.line, message: "\(what): the schema has no route for that"))
        return true
    }

    /// The cached record that the row's id or one of its natural keys names, and the key to change it by.
    private func existing(
        _ named: String?, _ row: ImportRow, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> (key: String, record: JSONText)? {
        if let named { return try await RecordID.cached(named, in: entity, client).map { (named, $0) } }
        for name in shape.naturalKeys {
            guard let value = row.value(of: name) else { continue }
            if let record = try await RecordID.cached("\(name):\(value)", in: entity, client) {
                return record[shape.key].map { ($0.plain, record) }
            }
        }
        return nil
    }

    private func problem(with fields: [(key: String, value: JSONText)]) -> String? {
        for (name, value) in fields {
            guard shape.field(name) != nil else {
                return "there is no field \(name)" + Suggestion.hint(for: name, among: shape.names { _ in true })
            }
            let values = shape.values(of: name)
            // A real import leaves this to the daemon, which also takes what the upstream has sent.
            guard isDryRun, !values.isEmpty else { continue }
            guard value.kind == .null || values.contains(value.plain) else {
                return "\(name) has no value \(value.plain); it has \(values.joined(separator: ", "))"
            }
        }
        return nil
    }

    /// What a dry run knows that a new record of these fields lacks.
    private func lack(of fields: [(key: String, value: JSONText)]) -> String? {
        guard isDryRun else { return nil }
        let needed = shape.names { $0["required"]?.boolean == true && ($0["default"] ?? .null).kind == .null }
        let given = Set(fields.filter { $0.value.kind != .null }.map(\.key))
        let lacking = needed.filter { $0 != shape.key && !given.contains($0) }
        guard let first = lacking.first else { return nil }
        guard lacking.count > 1 else { return "\(first): a new record needs this field" }
        return "\(lacking.joined(separator: ", ")): a new record needs these fields"
    }

    /// An exported row also has what the upstream sends beside the schema's fields. Unchanged, it is left out.
    private mutating func addUpdate(of key: String, _ record: JSONText, _ row: ImportRow) {
        let fields = row.fields.filter { name, value in
            name != shape.key && (shape.field(name) != nil || record[name]?.isEquivalent(to: value) != true)
        }
        if let problem = problem(with: fields) ?? unsendable(fields, record) { return fail(row, problem) }
        guard !isRefused("update", row) else { return }
        let operation = JSONText.object([
            "operation": "update", "entity": .string(entity), "id": .string(key), "body": .object(members: fields),
        ])
        append(Operation(line: row.line, body: operation, isCreation: false))
    }

    /// What a dry run knows that the daemon would refuse: another value for a field that no route of the schema sends.
    private func unsendable(_ fields: [(key: String, value: JSONText)], _ record: JSONText) -> String? {
        let known = shape.updatable
        guard isDryRun, !known.isEmpty else { return nil }
        let changed = fields.first { name, value in
            guard !known.contains(name), let old = record[name] else { return false }
            return !old.isEquivalent(to: value) && old.plain != value.plain
        }
        let list = known.joined(separator: ", ")
        return changed.map { "\($0.key): it cannot be changed; the schema sends changes of \(list)" }
    }

    /// The daemon computes derived fields itself.
    private mutating func addCreation(_ row: ImportRow, isNamed: Bool) {
        let fields = row.fields.filter { shape.field($0.key)?["computed"]?.boolean != true }
        let operation = JSONText.object([
            "operation": "create", "entity": .string(entity), "body": .object(members: fields),
        ])
        if isNamed {
            append(Operation(line: row.line, body: operation, isCreation: true))
        } else {
            // Without an id a repeat looks like another record, so its key is made of its content. The database and its
            // backups have the key in the clear: trying all passcodes of four digits would find the one in it.
            let shown = JSONText.object(members: fields.filter { shape.field($0.key)?["secret"]?.boolean != true }).text
            let count = repeats[shown, default: 0]
            repeats[shown] = count + 1
            portions.append(
                Portion(
                    rows: [Operation(line: row.line, body: operation, isCreation: true)],
                    key: Self.hash("\(entity)\n\(count)\n\(shown)"), isSingle: true))
        }
    }

    private mutating func append(_ operation: Operation) {
        let size = operation.body.text.utf8.count
        if let last = portions.indices.last, !portions[last].isSingle, portions[last].rows.count < Self.mostRows,
            portions[last].bytes + size <= Self.mostBytes
        {
            portions[last].rows.append(operation)
            portions[last].bytes += size
        } else {
            portions.append(Portion(rows: [operation], bytes: size, key: RandomID.make()))
        }
    }

    private static func hash(_ text: String) -> String {
        "import-" + String(hexadecimal: SHA256.hash(data: Array(text.utf8)))
    }

    /// Counts what would be done, as if nothing were refused.
    mutating func countPlanned() {
        let all = portions.flatMap(\.rows)
        created = all.count(where: \.isCreation)
        updated = all.count - created
    }

    /// Throws if a row failed.
    func requireAllRows() throws(CommandFailure) {
        guard !failures.isEmpty else { return }
        let (count, them) = (failures.count, failures.count == 1 ? "it" : "them")
        throw CommandFailure(
            .badData,
            isDryRun
                ? "\(count.counted("row", "rows")) cannot be imported; correct \(them) first"
                : "\(count.counted("row was", "rows were")) not imported; correct \(them) and import again")
    }

    /// Throws unless the first load has ended, if a row names a record that may come with the rest of that load: the import would
    /// create it a second time.
    func requireLoaded(_ isLoaded: Bool) throws(CommandFailure) {
        guard !isLoaded, let line = firstUnknown else { return }
        throw CommandFailure(
            .temporaryFailure,
            "the first load of \(entity) has not ended, and line \(line) names a record that may come with it; import again "
                + "when sync --wait has ended")
    }

    // MARK: Sending

    /// Sends one portion, again if the answer got lost: its key keeps it from being done twice.
    mutating func send(_ portion: Portion, _ client: LocalAPIClient) async throws(LocalAPIError) {
        if portion.isSingle { return try await sendSingle(portion, client) }
        let body = JSONText.object(["atomic": false, "operations": .array(portion.rows.map(\.body))])
        let headers = [(name: "Idempotency-Key", value: portion.key), ("Prefer", "return=minimal")]
        let answer = try await post(LocalAPIPaths.batch, headers, body, client)
        for (row, result) in zip(portion.rows, answer.body?["results"]?.elements ?? []) {
            if let problem = result["problem"] {
                let message = problem["detail"]?.string ?? problem["title"]?.string ?? "refused"
                failures.append(Failure(line: row.line, message: message))
            } else if row.isCreation {
                created += 1
            } else {
                updated += 1
            }
        }
    }

    /// Not a batch, whose refusals are kept under its key: after a correction of what the row refers to, the same file
    /// can be imported again.
    private mutating func sendSingle(_ portion: Portion, _ client: LocalAPIClient) async throws(LocalAPIError) {
        for row in portion.rows {
            do throws(LocalAPIError) {
                let headers = [(name: "Idempotency-Key", value: portion.key)]
                let answer = try await post(
                    LocalAPIPaths.records(of: entity), headers, row.body["body"] ?? .null, client)
                if answer.isReplayed { known += 1 } else { created += 1 }
            } catch {
                guard case .problem(let problem) = error, [400, 404, 405, 409, 422].contains(problem.status) else {
                    throw error
                }
                let isReused = problem.code == "idempotency_key_reused"
                failures.append(Failure(line: row.line, message: isReused ? Self.otherSecret : problem.message))
            }
        }
    }

    private static let otherSecret =
        "a row that differs only in secret fields was imported within 24 hours; change its record, or use create for "
        + "another one"

    private func post(
        _ path: String, _ headers: LocalAPIClient.Headers, _ body: JSONText, _ client: LocalAPIClient
    ) async throws(LocalAPIError) -> LocalAPIClient.Answer {
        do throws(LocalAPIError) {
            return try await client.post(path, headers: headers, body: body)
        } catch {
            guard case .unreachable = error else { throw error }
            var answer = try await client.post(path, headers: headers, body: body)
            // What it repeats may be the answer to the first attempt.
            answer.isReplayed = false
            return answer
        }
    }
}
