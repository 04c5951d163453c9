package import EntitySchema
package import JSONText

/// The remote API as the engine sees it: pages, records and changes, with every failure classified by what to do about
/// it.
package protocol Upstream: Sendable {
    /// Whose records they are; nil when the schema has no account call.
    func account() async throws(UpstreamError) -> SignedInAccount?

    /// Returns if the token counts now and stands for the account that `account` last returned, or if nothing can show that.
    /// Throws `.unauthorized` otherwise: what was read before may be another account's, or what a caller without a token gets
    /// to see. A token that no longer counts is renewed.
    func confirmToken() async throws(UpstreamError)

    /// One page of a list.
    func page(_ request: PageRequest) async throws(UpstreamError) -> Page

    /// A single record; nil when the upstream does not have it, or serves no single records of the entity.
    ///
    /// `known` holds the fields that the record's path needs: at least its key.
    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord?

    /// Sends a change. Every attempt of one change carries the same key, so the upstream recognises a repeat.
    ///
    /// Returns only what is recognised as an acknowledgement; throws `.unclear` with a status of 2xx for any other answer
    /// to a request that arrived.
    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer

    /// Sends several changes as one request. Returns the answer to each in the order of its elements, as if each had been
    /// sent by itself; `.unclear` with a status of 2xx for one whose result is missing or could be another's.
    ///
    /// Throws when there are no results at all.
    func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult]

    /// Sends a change with `source` as its body; otherwise like `push`.
    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer

    /// Downloads at most `limit` bytes from an address that a record names, possibly on another host. Returns the media
    /// type of the response.
    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String?

    /// Follows an event stream until it ends. `lastEvent` is the id of the last event that arrived earlier.
    ///
    /// Throws when it cannot be opened or breaks. `receive` must be quick: the stream waits for it.
    func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd

    /// Whether an address is below the upstream's own.
    func serves(_ address: String) -> Bool

    /// Returns when the upstream answers with any status below 500.
    func probe() async throws(UpstreamError)

    /// Call it when this machine's links, addresses or routes have changed: requests over a lost link fail at once.
    func networkChanged()

    /// The same upstream, whose requests take this turn where there is a budget, and whose changes pass its fence.
    func taking(_ turn: RequestTurn) -> any Upstream

    /// What is left of the upstream's limits; nil if it has none.
    var budget: RequestBudget.Balance? { get }

    /// What you must still configure before requests are possible; nil when nothing is known to be missing.
    var missing: String? { get async }
}

/// Defaults for an upstream that lacks no setting, and has no batches, content, event streams and limits.
extension Upstream {
    package var missing: String? { nil }
    package func confirmToken() async throws(UpstreamError) {}
    package func networkChanged() {}
    package func taking(_ turn: RequestTurn) -> any Upstream { self }
    package var budget: RequestBudget.Balance? { nil }

    package func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        throw .refused(status: nil, "this upstream takes no batches")
    }

    package func follow(
        _ stream: SignalStream, after lastEvent: String?, clock: any Clock<Duration>,
        receive: @escaping @Sendable (StreamNews) -> Void
    ) async throws(UpstreamError) -> StreamEnd {
        throw .refused(status: nil, "this upstream has no event streams")
    }

    package func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        throw .refused(status: nil, "this upstream accepts no content")
    }

    package func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        throw .refused(status: nil, "this upstream has no content")
    }

    package func serves(_ address: String) -> Bool { true }
}

/// A single record from the upstream.
package struct RemoteRecord: Sendable, Equatable {
    package var record: JSONText
    /// Identifies this version; a change that is based on it sends it back. Nil when the upstream has no versions.
    package var version: String?
    /// The answer to a change that will be applied (202): it may be the job that does so, and not the record.
    package var isLater = false
    /// A gateway answered with what it had kept, so the record may be gone by now.
    package var isRepeated = false

    package init(_ record: JSONText, version: String? = nil, isLater: Bool = false) {
        self.record = record
        self.version = version
        self.isLater = isLater
    }
}

/// One page of a list.
package struct Page: Sendable, Equatable {
    /// A JSON array, byte for byte as it came. A record with a number that JSON does not have is a string with its text.
    package var records: JSONText
    package var count: Int
    /// The number of records in the whole list, as the upstream reports it.
    package var total: Int?
    /// The position of the next page for `PageRequest.position`, opaque to callers; still valid after a restart. Nil on
    /// the last page.
    package var next: String?
    /// What the next pull asks with (`ListValues.delta`), if this page says so.
    package var delta: String?
    /// The same of a page that another one follows. It counts if that one is empty and says nothing.
    package var passingDelta: String?
    /// Where the last page names another one that the schema does not follow; nil if it names none.
    package var unfollowed: String?
    /// What says that the upstream left records out; nil if nothing does.
    package var partial: String?
    /// It came with 206, which says that there is another page, or that records were left out.
    package var isPart = false
    /// Where the list may go on although its total says that this page is the last; nil if nothing suggests it.
    package var behindTotal: String?
    /// The list ends where servers may stop counting, and the upstream refuses to show the next page.
    package var refusesMore = false
    /// How old the answer is, if a gateway repeated one that it had kept; nil if it came from the server.
    package var age: Duration?
    /// What a large page holds of the memory for answers, until it is written; nil for a small one.
    package var share: AnswerShare?
    /// Whether the upstream replaced an unknown or missing position: `next` is the new one, and there are no records.
    package var isRenewed = false

    package init(
        records: JSONText, count: Int, total: Int? = nil, next: String? = nil, unfollowed: String? = nil,
        age: Duration? = nil
    ) {
        self.records = records
        self.count = count
        self.total = total
        self.next = next
        self.unfollowed = unfollowed
        self.age = age
    }
}

/// The source of a body that is too large to hold in memory: read piece by piece, and from the start when sent again.
package final class BodySource: Sendable, Equatable {
    package let size: Int
    /// At most `count` bytes from `offset`; nil when they can no longer be read.
    package let read: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?

    package init(size: Int, read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?) {
        self.size = size
        self.read = read
    }

    package static func == (one: BodySource, other: BodySource) -> Bool { one === other }

    /// This body between two others.
    package func enclosed(by prefix: [UInt8], _ suffix: [UInt8]) -> BodySource {
        let end = prefix.count + size
        return BodySource(size: end + suffix.count) { [read] offset, count in
            if offset < prefix.count { return Array(prefix[offset...].prefix(count)) }
            if offset < end { return read(offset - prefix.count, min(count, end - offset)) }
            return Array(suffix.dropFirst(offset - end).prefix(count))
        }
    }
}

/// Receives the body of a successful response that is too large to hold in memory.
package final class BodySink: Sendable, Equatable {
    /// Called with status and media type before the body comes; a text refuses it and says why.
    package let begin: @Sendable (_ status: Int, _ type: String) -> String?
    /// False refuses the rest of the body.
    package let take: @Sendable (UnsafeRawBufferPointer) -> Bool

    package init(
        begin: @escaping @Sendable (_ status: Int, _ type: String) -> String? = { _, _ in nil },
        take: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) {
        self.begin = begin
        self.take = take
    }

    package static func == (one: BodySink, other: BodySink) -> Bool { one === other }
}
