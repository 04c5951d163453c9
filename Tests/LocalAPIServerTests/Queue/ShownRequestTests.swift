import CacheStore
import EntitySchema
import Foundation
import JSONText
import Logging
import ReferenceUpstream
import SocketServer
import SyncEngine
import Synchronization
import TestSupport
import Testing
import Upstream

@Suite("The request that is shown and the one that is sent")
struct ShownRequestTests {
    private static let now = Timestamp.sample
    private static let secret = "secret-4711"

    @Test(
        "are the same for every operation and route of a shipped schema, except for secrets",
        arguments: ["repairminder", "repairminder-live"])
    func everyRoute(_ name: String) async throws {
        let schema = try ProjectFiles.schema(name)
        let records =
            name.hasSuffix("live") ? LiveShopGenerator(orders: 20).records() : ShopGenerator(orders: 20).records()
        let line = RecordingLine(ReferenceUpstream(schema: schema, records: records, now: { Self.now }))
        let upstream = HTTPUpstream(
            plan: schema.upstream, baseURL: RecordingLine.base, transport: line, now: { Self.now })
        let store = try CacheStore.temporary(schema)
        for (entity, records) in records {
            let page = PulledPage(entity: entity, records: JSONText.array(records).text)
            _ = try await store.apply(page, at: Self.now)
        }
        let count = try await Self.queueEverything(schema, store, upstream)
        let shown = try store.pending(PendingQuery(limit: 1000)).changes.map { $0["request"] ?? .null }
        #expect(shown.count == count && count >= 4)
        try await Self.sync(schema, store, upstream)
        let sent = line.changes
        // A creation that still lacks its content is not sent, and shows no request.
        let lacking = schema.entities.filter(\.isCreatedWithContent).flatMap(\.push.create).count
        #expect(shown.count { $0.kind == .null } == lacking)
        let sendable = Set(shown.filter { $0.kind != .null }.map(\.text))
        #expect(Set(sent.map { $0.replacing(Self.secret, with: "…") }) == sendable)
        #expect(sent.contains { $0.contains(Self.secret) } || !schema.entities.contains { $0.sendsSecrets })
        #expect(!shown.contains { $0.text.contains(Self.secret) })
        let hasVersion = schema.upstream.version != nil
        #expect(shown.contains { $0.at(path: "headers.If-Match") != nil } == hasVersion)
    }

    // MARK: Changes

    /// Queues a change for each route, each of a record of its own; returns how many.
    private static func queueEverything(
        _ schema: EntitySchema, _ store: CacheStore, _ upstream: any Upstream
    ) async throws -> Int {
        var count = 0
        for entity in schema.entities {
            // Not the last two, to which new children refer: a new child gives its parent a new version.
            var records = try JSONText(store.list(ListQuery(entity: entity.name)).records).elements.dropLast(2)
            for route in entity.push.create {
                let body = sample(entity, route, of: .object([:]), store, all: true)
                _ = try await store.create(entity.name, body: body, at: now)
                count += 1
            }
            for route in entity.push.update {
                // A record that the route would change.
                let index = records.lastIndex { record in
                    sample(entity, route, of: record, store, all: false).members.contains { record[$0.key] != $0.value }
                }
                let record = records.remove(at: try #require(index))
                try await learnVersion(of: record, entity, store, upstream)
                let body = sample(entity, route, of: record, store, all: false)
                try await store.update(entity.name, key: record[entity.key]?.plain ?? "", body: body, at: now)
                count += 1
            }
            for _ in entity.push.delete {
                let last = records.popLast()
                let record = try #require(last)
                try await store.delete(entity.name, key: record[entity.key]?.plain ?? "", at: now)
                count += 1
            }
        }
        return count
    }

    private static func learnVersion(
        of record: JSONText, _ entity: Entity, _ store: CacheStore, _ upstream: any Upstream
    ) async throws {
        guard let found = try await upstream.record(of: entity, known: record) else { return }
        // An equal record writes nothing, so add a member.
        let records = JSONText.array([found.record.setting("extra", to: 1)]).text
        _ = try await store.apply(
            PulledPage(entity: entity.name, records: records, position: store.position(), version: found.version),
            at: now)
    }

    /// A new value for each field that the route sends or has a condition on.
    private static func sample(
        _ entity: Entity, _ route: PushRoute, of record: JSONText, _ store: CacheStore, all: Bool
    ) -> JSONText {
        let known = all ? route.path.placeholders + route.conditions.keys : []
        let required = all ? entity.fields.filter(\.required).map(\.name) : []
        let names = (route.sendable ?? required) + known + required
        let fields = entity.fields.filter { names.contains($0.name) && $0.name != entity.key }
        return .object(
            members: fields.map { field in
                if let text = route.conditions[field.name] {
                    return (field.name, field.kind == .boolean ? .boolean(text == "true") : .string(text))
                }
                return (field.name, value(field, other: record[field.name], store))
            })
    }

    private static func value(_ field: Field, other: JSONText?, _ store: CacheStore) -> JSONText {
        switch field.kind {
        case .string: .string(field.secret ? secret : "changed")
        case .integer: 7
        case .number, .money: 15
        case .boolean: .boolean(other?.boolean == false)
        case .time: "2026-11-21T10:42:00Z"
        case .date: "2026-11-21"
        case .object: .object(["a": 1])
        case .list: .array([1])
        case .enum(let values): .string(values.first { $0.value != other?.string }?.value ?? "")
        case .reference(let target):
            (try? JSONText(store.list(ListQuery(entity: target)).records).elements)?
                .compactMap { $0["id"] }.last { $0 != other } ?? "none"
        }
    }

    // MARK: Parts

    /// Lets an engine send everything.
    private static func sync(_ schema: EntitySchema, _ store: CacheStore, _ upstream: any Upstream) async throws {
        let engine = SyncEngine(
            store: store, upstream: upstream, time: SyncTime(clock: ContinuousClock(), now: { now }), random: { 0.5 },
            log: .silent)
        let running = Task { try await engine.run() }
        try? await engine.sync(SyncRequest())
        running.cancel()
        _ = await running.result
    }
}

extension Entity {
    fileprivate var sendsSecrets: Bool {
        let secrets = fields.filter(\.secret).map(\.name)
        return (push.create + push.update).contains { route in secrets.contains(where: route.canSend) }
    }
}

/// Carries requests to a reference upstream without any socket, and remembers those that change something.
private final class RecordingLine: HTTPTransport {
    static let base = "http://localhost"

    private let reference: ReferenceUpstream
    private let sent = Mutex<[String]>([])

    init(_ reference: ReferenceUpstream) { self.reference = reference }

    /// As the API would show them.
    var changes: [String] { sent.withLock(\.self) }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let target = String(request.url.dropFirst(Self.base.count))
        if request.method != "GET" {
            let shown = JSONText.object([
                "method": .string(request.method), "path": .string(target),
                "headers": .object(members: request.headers.map { (key: $0.name, value: .string($0.value)) }),
                "body": request.body.flatMap { try? JSONText($0) } ?? .null,
            ])
            sent.withLock { $0.append(shown.text) }
        }
        var headers = Headers()
        for header in request.headers { headers.append(name: header.name, value: header.value) }
        let parts = target.split(separator: "?", maxSplits: 1)
        let call = Request(
            method: request.method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil,
            headers: headers, body: request.body ?? [])
        guard let response = try? await reference.exchange(call), case .bytes(let body) = response.body else {
            throw .ambiguous("no answer")
        }
        return HTTPResponse(
            status: response.status, headers: response.headers.map { HTTPHeader($0.name, $0.value) }, body: body)
    }
}
