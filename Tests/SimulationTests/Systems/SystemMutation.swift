import EntitySchema
import GRDB
import JSONText
import ReferenceUpstream
import SocketServer
import Synchronization
import Upstream

@testable import CacheStore

/// A rule for real upstreams that is switched off, to test that the checks notice.
enum SystemMutation: String, Sendable, CaseIterable {
    /// Any answer of 2xx to a change acknowledges it.
    case takesPagesForSuccess
    /// One 404 or one empty list counts as absence.
    case believesAbsence
    /// What comes back from one's own writes is news.
    case doesNotSettle
    /// A member that a list lacks is null.
    case takesMissingForNull
    /// What this server makes of values is not remembered.
    case learnsNoForms
    /// A look-up that finds nothing is believed at once.
    case looksUpOnce
    /// What concerns the account fails the change.
    case failsBarredChanges
    /// References go out as text.
    case losesTypes
    /// The watermark follows change times in the future.
    case followsFuture
    /// A list that was cut off is believed.
    case believesCutLists
    /// PUT sends only what was changed.
    case sendsChangesOnly
    /// The results of a batch are matched with other changes.
    case mixesResults
    /// A creation that went out in a batch without its key is sent again, as if the upstream knew that.
    case forgetsBatches
    /// The queue waits behind the changes of an entity that the schema no longer has.
    case waitsForLostEntities
    /// The number of a page is not sent where a list is asked for by POST.
    case losesPositions
    /// A token that is no longer known is asked with again.
    case insistsOnTokens
    /// Each tombstone deletes what belongs to its record, also those that were applied before.
    case cascadesAgain
    /// Changes are asked for from a later time than a form without seconds can say.
    case asksTooLate
    /// A new value for a field waits behind the one that was refused.
    case waitsForRefused

    /// The habits with which the fault takes effect.
    var habits: [Habit] {
        switch self {
        case .takesPagesForSuccess: [.html200]
        case .believesAbsence: [.blanket404]
        case .doesNotSettle: [.laggingLists]
        case .takesMissingForNull: [.omittedMembers]
        case .learnsNoForms: [.lowerCase, .laggingAnswers]
        case .looksUpOnce: [.laggingLists, .integerIDs]
        case .failsBarredChanges: [.blanket403]
        case .losesTypes: [.strictReferences]
        case .followsFuture: [.futureTimes]
        case .believesCutLists: [.cutLists, .listsOnly]
        case .sendsChangesOnly: [.replacingPut]
        case .mixesResults: [.locked, .emptyAnswers]
        case .forgetsBatches: [.laggingLists]
        case .insistsOnTokens: [.forgottenTokens]
        case .waitsForLostEntities, .cascadesAgain, .losesPositions, .asksTooLate: []
        case .waitsForRefused: [.locked]
        }
    }

    /// The rule whose check must catch it; nil if any may.
    var rule: Violation.Rule? {
        switch self {
        case .waitsForLostEntities, .cascadesAgain, .losesPositions, .asksTooLate: .equalInTheEnd
        case .waitsForRefused: .othersGoOn
        default: nil
        }
    }

    /// A plan in which the fault takes effect.
    func plan(seed: UInt64) throws -> SystemPlan {
        var plan = try SystemPlan.own(
            seed: seed, among: [], always: habits, keepsOrphans: self == .cascadesAgain, provoke: provoke)
        if self == .waitsForLostEntities { plan.otherYAMLs = [HabitSchema.withoutTasks(plan.yaml)] }
        plan.mutation = self
        return plan
    }

    /// Draws a schema in which the fault takes effect.
    private func provoke(_ style: inout HabitSchema) {
        style.reading = .plain
        style.deletions = .marks
        style.sinceFormat = nil
        switch self {
        case .forgetsBatches:
            style.batching = .plain
            style.hasIdempotency = true
        case .losesPositions: style.reading = .posted
        case .insistsOnTokens: style.reading = .token
        case .asksTooLate:
            style.isIncremental = true
            style.sinceFormat = Self.minutes
        default: break
        }
    }

    private static let minutes = "yyyy-MM-dd HH:mm"

    /// The daemon's schema with the fault.
    func damaged(_ yaml: String) -> String {
        switch self {
        case .looksUpOnce: yaml.replacing("\nupstream:\n", with: "\nupstream:\n  settle: 0s\n")
        // Two hours ahead of the server, which takes the times for UTC.
        case .asksTooLate: yaml.replacing("\"\(Self.minutes)\"", with: "\"\(Self.minutes)[+02:00]\"")
        default: yaml
        }
    }

    /// Injects the fault into a store that was just opened.
    func damage(_ store: CacheStore) throws {
        let triggers: [(table: String, sql: String)] =
            switch self {
            case .doesNotSettle:
                ["INSERT", "UPDATE"].map { event in
                    (
                        "sync_settling",
                        """
                        mutation_\(event) AFTER \(event) ON sync_settling BEGIN DELETE FROM sync_settling
                          WHERE entity = NEW.entity AND record_key = NEW.record_key
                        """
                    )
                }
            case .learnsNoForms:
                [
                    (
                        "sync_normal_form",
                        """
                        mutation AFTER INSERT ON sync_normal_form BEGIN DELETE FROM sync_normal_form
                          WHERE entity = NEW.entity AND field = NEW.field AND form = NEW.form
                        """
                    )
                ]
            case .forgetsBatches:
                [
                    (
                        "sync_outbox",
                        """
                        mutation AFTER UPDATE OF idempotency_key ON sync_outbox
                        WHEN NEW.idempotency_key GLOB '\(OutboxChange.hiddenKeyMark)*' BEGIN
                          UPDATE sync_outbox SET idempotency_key =
                            replace(idempotency_key, '\(OutboxChange.hiddenKeyMark)', '') WHERE id = NEW.id
                        """
                    )
                ]
            case .followsFuture:
                ["INSERT", "UPDATE OF watermark"].map { event in
                    (
                        "sync_cursor",
                        """
                        mutation_\(event.prefix(6)) AFTER \(event) ON sync_cursor WHEN NEW.entity = 'projects' BEGIN
                          UPDATE sync_cursor SET watermark =
                            (SELECT max(json_extract(_remote, '$.updated_at')) FROM records_projects)
                          WHERE entity = NEW.entity
                        """
                    )
                }
            case .waitsForLostEntities:
                [
                    (
                        "sync_outbox",
                        """
                        mutation AFTER INSERT ON sync_outbox WHEN NEW.entity <> 'tasks' BEGIN
                          INSERT INTO sync_dependency
                          SELECT NEW.id, id FROM sync_outbox WHERE entity = 'tasks' ORDER BY id LIMIT 1
                        """
                    )
                ]
            case .waitsForRefused:
                [
                    (
                        "sync_outbox",
                        """
                        mutation AFTER UPDATE OF error_class ON sync_outbox WHEN NEW.error_status = 409 BEGIN
                          UPDATE sync_outbox SET error_class = 'failed' WHERE id = NEW.id
                        """
                    )
                ]
            default: []
            }
        try store.pool.write { db in
            for trigger in triggers where try db.tableExists(trigger.table) {
                try db.execute(sql: "CREATE TRIGGER IF NOT EXISTS \(trigger.sql); END")
            }
        }
    }
}

/// The wire as an engine with the fault would understand it.
final class MutatedTransport: HTTPTransport {
    private struct Memory {
        /// The last good answer to each read.
        var answers: [String: HTTPResponse] = [:]
        /// What was last said to be missing.
        var missing = ""
    }

    private let transport: SystemTransport
    private let mutation: SystemMutation
    private let schema: EntitySchema
    private let memory = Mutex(Memory())

    init(_ transport: SystemTransport, _ mutation: SystemMutation, _ schema: EntitySchema) {
        self.transport = transport
        self.mutation = mutation
        self.schema = schema
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let answer = try await transport.send(sent(request))
        return request.method == "GET" ? read(answer, request) : written(answer, request)
    }

    // MARK: Requests

    private func sent(_ request: HTTPRequest) -> HTTPRequest {
        guard let body = request.body.flatMap({ try? JSONText($0) }), body.kind == .object else { return request }
        var request = request
        switch mutation {
        case .losesTypes:
            let members = body.members.map { member in
                let isReference = member.key.hasSuffix("_id") && member.value.kind == .number
                return (key: member.key, value: isReference ? JSONText.string(member.value.text) : member.value)
            }
            request.body = Array(JSONText.object(members: members).bytes)
        case .losesPositions where request.url.hasSuffix("/projects/search"):
            request.body = Array(body.without("page").bytes)
        case .sendsChangesOnly where request.method == "PUT": request.body = Array(newest(body).bytes)
        default: break
        }
        return request
    }

    /// The members that the newest write set.
    private func newest(_ body: JSONText) -> JSONText {
        let numbered = body.members.map { member in
            let field = schema.entities.lazy.compactMap { $0[field: member.key] }.first
            return (member: member, number: field.flatMap { Marks.number(of: member.value, $0) } ?? -1)
        }
        let newest = numbered.map(\.number).max() ?? -1
        return .object(members: numbered.filter { $0.number == newest }.map(\.member))
    }

    // MARK: Answers

    private func written(_ answer: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        let isJSON = (try? JSONText(answer.body)) != nil
        switch mutation {
        case .takesPagesForSuccess where (200..<300).contains(answer.status) && !answer.body.isEmpty && !isJSON:
            return HTTPResponse(status: 200, headers: [], body: [])
        case .failsBarredChanges where [302, 403].contains(answer.status):
            return HTTPResponse(
                status: 422, headers: [HTTPHeader("Content-Type", "application/json")],
                body: Array(#"{"error":"refused"}"#.utf8))
        case .believesAbsence where answer.status == 404: memory.withLock { $0.missing = request.url }
        case .mixesResults: return mixed(answer, request)
        default: break
        }
        return answer
    }

    /// Each result has what the next one says.
    private func mixed(_ answer: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        guard request.url.hasSuffix("/batch"), let body = try? JSONText(answer.body),
            let results = body["results"]?.elements, let first = results.first
        else { return answer }
        let mixed = zip(results, results.dropFirst() + [first]).map { result, next in
            result["id"].map { next.setting("id", to: $0) } ?? next
        }
        return Self.answer(answer, body.setting("results", to: .array(mixed)))
    }

    private func read(_ answer: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        switch mutation {
        case .believesAbsence: return witnessed(answer, request.url)
        case .insistsOnTokens where answer.status == 410:
            return HTTPResponse(status: 503, headers: [], body: [])
        case .cascadesAgain: return changed(answer, request) { entity, row in Self.revived(row, entity) }
        case .takesMissingForNull: return changed(answer, request) { entity, row in [Self.filled(row, entity)] }
        case .believesCutLists:
            guard let body = try? JSONText(answer.body), let rows = body["data"], rows.elementCount == 50 else {
                return answer
            }
            return Self.answer(answer, body.setting("data", to: .array(rows.elements.dropLast())))
        default: return answer
        }
    }

    /// Whatever is asked for after something was missing is there.
    private func witnessed(_ answer: HTTPResponse, _ url: String) -> HTTPResponse {
        let body = try? JSONText(answer.body)
        let isGood = answer.status == 200 && body?.kind == .object && body?["data"]?.elementCount != 0
        return memory.withLock { memory in
            if isGood {
                memory.answers[url] = answer
                return answer
            }
            guard answer.status == 404, url != memory.missing, let known = memory.answers[url] else {
                if answer.status == 404 { memory.missing = url }
                return answer
            }
            return known
        }
    }

    private func changed(
        _ answer: HTTPResponse, _ request: HTTPRequest, _ change: (Entity, JSONText) -> [JSONText]
    ) -> HTTPResponse {
        let path = request.url.dropFirst("http://simulated".count).prefix { $0 != "?" }
        guard let entity = schema.entities.first(where: { $0.pull.map { $0.path == path } ?? false }),
            let body = try? JSONText(answer.body), let rows = body["data"]
        else { return answer }
        return Self.answer(answer, body.setting("data", to: .array(rows.elements.flatMap { change(entity, $0) })))
    }

    /// A record that is there and then deleted: what was to be done for its deletion is done again.
    private static func revived(_ row: JSONText, _ entity: Entity) -> [JSONText] {
        guard entity.isDeleted(row), let mark = entity.pull?.deleted else { return [row] }
        return [row.setting(mark.name, to: .null), row]
    }

    private static func filled(_ row: JSONText, _ entity: Entity) -> JSONText {
        guard !entity.isDeleted(row) else { return row }
        return entity.fields.filter { $0.source == nil && row[$0.name] == nil }.reduce(row) { row, field in
            row.setting(field.name, to: .null)
        }
    }

    private static func answer(_ answer: HTTPResponse, _ body: JSONText) -> HTTPResponse {
        HTTPResponse(status: answer.status, headers: answer.headers, body: Array(body.bytes))
    }
}
