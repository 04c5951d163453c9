package import EntitySchema
package import JSONText

/// The remote API as the engine sees it: pages, records and changes, with every failure sorted by what to do about it.
package protocol Upstream: Sendable {
    /// The identity whose records these are; nil where the schema names no such call.
    func account() async throws(UpstreamError) -> String?

    /// One page of a list.
    func page(_ request: PageRequest) async throws(UpstreamError) -> Page

    /// One record of an entity that is served by itself; nil when the upstream has none like it.
    ///
    /// `known` is what is known of it here, for the holes of its path: its key at least.
    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord?

    /// Sends a change. Every attempt of one change carries the same key, so that a repeat is recognised as one.
    /// Returns the record that was answered, nil where none was.
    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> RemoteRecord?

    /// Sends a change whose body is `source`. As `push` in all else.
    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> RemoteRecord?

    /// Fetches at most `limit` bytes from an address that a record names, which may be another host's, and returns the
    /// media type that was answered.
    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String?

    /// Whether an address is the upstream's own.
    func serves(_ address: String) -> Bool

    /// Returns when the upstream answers, and with something else than that it has failed.
    func probe() async throws(UpstreamError)

    /// To be called when this machine's links, addresses or routes have changed: nothing waits on for what they took away.
    func networkChanged()

    /// What a person must still give before anything can be asked of it; nil where nothing is known to be missing.
    var missing: String? { get async }
}

extension Upstream {
    package var missing: String? { nil }
    package func networkChanged() {}
}

/// For an upstream that knows fields alone.
extension Upstream {
    package func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> RemoteRecord? {
        throw .refused(status: nil, "this upstream takes no content")
    }

    package func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        throw .refused(status: nil, "this upstream has no content")
    }

    package func serves(_ address: String) -> Bool { true }
}

/// A record as the upstream answered it by itself.
package struct RemoteRecord: Sendable, Equatable {
    package var record: JSONText
    /// What tells this version from others, to be sent back with a change that builds on it; nil where nothing does.
    package var version: String?

    package init(_ record: JSONText, version: String? = nil) {
        self.record = record
        self.version = version
    }
}

package struct PageRequest: Sendable, Equatable {
    /// Whose records they are.
    package var entity: String
    package var path: String
    package var query: [QueryItem]
    /// Asks only for records changed at or after this time.
    package var since: QueryItem?
    package var list: ListPlan
    /// `next` of the page before; nil for the first page.
    package var position: String?
    /// False where an error must not quote the answer, which may hold secrets of any record.
    package var mayQuoteAnswer = true

    package init(
        entity: String = "", path: String, query: [QueryItem] = [], since: QueryItem? = nil, list: ListPlan,
        position: String? = nil
    ) {
        self.entity = entity
        self.path = path
        self.query = query
        self.since = since
        self.list = list
        self.position = position
    }
}

package struct Page: Sendable, Equatable {
    /// A JSON array, to the letter as it came.
    package var records: JSONText
    package var count: Int
    /// How many records the upstream says the whole list has.
    package var total: Int?
    /// What the next page is asked for with; it means something only to the upstream, and goes on meaning it after a
    /// restart. Nil on the last page.
    package var next: String?

    package init(records: JSONText, count: Int, total: Int? = nil, next: String? = nil) {
        self.records = records
        self.count = count
        self.total = total
        self.next = next
    }
}
