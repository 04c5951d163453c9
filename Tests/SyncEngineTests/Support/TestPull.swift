import EntitySchema
import GRDB
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import CacheStore
@testable import SyncEngine

/// Pulls without an engine, with a real cache and an upstream whose pages the test defines.
struct TestPull {
    let upstream = PagedUpstream()
    let clock = ManualClock()
    let serverNow = ServerNow()
    let schema: EntitySchema
    let store: CacheStore

    /// `pull` and `create` are the YAML for pulling and creating orders; `changing` edits the whole schema.
    init(
        _ pull: String = "since: { param: since, field: updated_at, overlap: 10s }",
        create: String = "call: POST /orders", changing: (String) -> String = { $0 }
    ) throws {
        schema = try EntitySchema(yaml: changing(Self.shop(pull, create)), file: "shop.yaml")
        store = try CacheStore.temporary(schema)
    }

    /// The schema without a list of all messages.
    static func withoutMessages(_ yaml: String) -> String {
        yaml.replacing("\n    pull: { path: /messages }", with: "")
    }

    /// The cache of another, with another schema.
    init(_ other: TestPull, _ pull: String, changing: (String) -> String = { $0 }) throws {
        schema = try EntitySchema(yaml: changing(Self.shop(pull, "call: POST /orders")), file: "shop.yaml")
        try other.store.close()
        store = try CacheStore(
            path: other.store.pool.path, schema: schema, sealer: .sample(),
            // The other store holds the folder.
            makeID: { withExtendedLifetime(other.store) { "unused" } })
    }

    func puller(confirmed: Set<String> = []) -> Puller {
        Puller(
            store: store, upstream: upstream, clock: clock, now: { clock.timestamp }, schema: schema,
            serverNow: { serverNow.time },
            deletionGuard: DeletionGuard(share: 0.2, confirmed: confirmed)
        ) { _, _ in }
    }

    @discardableResult
    func pull(full: Bool = false, confirmed: Set<String> = []) async throws -> PullSummary {
        let orders = try #require(schema["orders"])
        return try await puller(confirmed: confirmed).pull(orders, full: full)
    }

    func pullDetails(all: Bool = false) async throws {
        let orders = try #require(schema["orders"])
        let fetch = try #require(orders.pull?.fetch)
        try await DetailPuller(puller: puller(), entity: orders, fetch: fetch, parallel: 2).pull(all: all)
    }

    var cursor: PullCursor { get throws { try store.cursor(of: "orders") } }

    func keys(_ entity: String = "orders") throws -> Set<String> {
        Set(
            try JSONText(store.list(ListQuery(entity: entity, limit: 200)).records).elements.compactMap {
                $0["id"]?.plain
            })
    }

    /// A record as the upstream last had it.
    func remote(_ key: String) throws -> String? { try store.remote(of: "orders", key: key)?.text }

    private static func shop(_ pull: String, _ create: String) -> String {
        """
        schema: shop
        upstream:
          base_url: http://localhost
          pagination: { style: page, page_size: 2 }
        entities:
          orders:
            fields:
              id: { type: string }
              notes: { type: string }
              updated_at: { type: time }
            many:
              messages: { of: messages, by: order_id, on_delete: cascade }
            pull: { path: /orders, deleted: deleted_at, \(pull) }
            push:
              create: { \(create) }
              update: { call: "PATCH /orders/{id}" }
          messages:
            fields:
              id: { type: string }
              text: { type: string }
              order_id: { type: reference, to: orders, required: true }
            pull: { path: /messages }
        """
    }
}

/// The server's time as it was measured; unknown at first.
final class ServerNow: Sendable {
    private let value = Mutex<Timestamp?>(nil)

    var time: Timestamp? { value.withLock { $0 } }

    func set(_ time: String) { value.withLock { $0 = Timestamp(iso8601: time) } }
}

/// An upstream that answers given pages, and records the requests.
final class PagedUpstream: BareUpstream {
    typealias Answer = @Sendable (PageRequest) -> Result<Page, UpstreamError>

    private let answer = Mutex<Answer?>(nil)
    private let asked = Mutex<[PageRequest]>([])

    var requests: [PageRequest] { asked.withLock { $0 } }
    var positions: [String?] { requests.map(\.position) }

    func answering(_ new: @escaping Answer) { answer.withLock { $0 = new } }

    /// Pages at the positions "1" (or none), "2", …; `total` none unless it is given.
    /// With `singles`, each record that is listed is also served by its key.
    func serve(_ pages: [String], total: Int? = nil, singles: Bool = false) throws {
        let pages = try pages.map { try JSONText(parsing: $0) }
        if singles { serveSingles(of: pages.flatMap(\.elements)) }
        answering { request in .success(Self.page(pages, request.position, total)) }
    }

    /// The same, but the page at `position` is answered so once before.
    func serve(_ pages: [String], after answer: Result<Page, UpstreamError>, at position: String) throws {
        let pages = try pages.map { try JSONText(parsing: $0) }
        let isFirst = Flag()
        answering { request in
            if request.position == position, isFirst.take() { return answer }
            return .success(Self.page(pages, request.position))
        }
    }

    static func page(_ pages: [JSONText], _ position: String?, _ total: Int? = nil) -> Page {
        let number = position.flatMap { Int($0) } ?? 1
        let records = number <= pages.count ? pages[number - 1] : .array([])
        return Page(
            records: records, count: records.elements.count, total: total,
            next: number < pages.count ? "\(number + 1)" : nil)
    }

    func forget() { asked.withLock { $0 = [] } }

    func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        asked.withLock { $0.append(request) }
        guard let answer = answer.withLock({ $0 }) else { throw .malformed("the test sets no answer") }
        return try answer(request).get()
    }

    private let singles = Mutex<(@Sendable (Entity, String) -> Result<String?, UpstreamError>)?>(nil)
    private let read = Mutex<[String]>([])
    private let beforeAnswer = Mutex<(@Sendable (String) async -> Void)?>(nil)

    /// Called with its key before a single record is answered.
    func onRecord(_ body: @escaping @Sendable (String) async -> Void) { beforeAnswer.withLock { $0 = body } }

    /// The keys of the single records that were asked for.
    var reads: [String] { read.withLock { $0 } }

    /// Serves single records by their keys; without it there are none, whatever the lists show.
    func serveSingles(_ new: @escaping @Sendable (Entity, String) -> Result<String?, UpstreamError>) {
        singles.withLock { $0 = new }
    }

    func serveSingles(of list: String) throws { serveSingles(of: try JSONText(parsing: list).elements) }

    private func serveSingles(of records: [JSONText]) {
        serveSingles { _, key in .success(records.first { $0["id"]?.plain == key }?.text) }
    }

    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        guard let single = singles.withLock({ $0 }), let key = known[entity.key]?.plain else { return nil }
        read.withLock { $0.append(key) }
        await beforeAnswer.withLock { $0 }?(key)
        guard let text = try single(entity, key).get() else { return nil }
        guard let record = try? JSONText(parsing: text) else { throw .malformed("the test serves no JSON") }
        return RemoteRecord(record)
    }
}

extension PullSummary {
    var deletedMessages: Int { children["messages"]?.deleted ?? 0 }
}
