package import EntitySchema
package import JSONText

/// The remote API as the engine sees it: pages, records and changes, with every failure sorted by what to do about it.
package protocol Upstream: Sendable {
    /// The identity whose records these are; nil where the schema names no such call.
    func account() async throws(UpstreamError) -> String?

    /// One page of a list.
    func page(_ request: PageRequest) async throws(UpstreamError) -> Page

    /// One record of an entity that is served by itself; nil when the upstream has none of this key.
    func record(of entity: Entity, key: String) async throws(UpstreamError) -> JSONText?

    /// Sends a change. Every attempt of one change carries the same key, so that a repeat is recognised as one.
    /// Returns the record that was answered, nil where none was.
    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> JSONText?

    /// Returns when the upstream answers at all.
    func probe() async throws(UpstreamError)
}

package struct PageRequest: Sendable, Equatable {
    package var path: String
    /// From 1.
    package var page: Int
    /// Asks only for records changed at or after this time.
    package var since: Since?

    package struct Since: Sendable, Equatable {
        package var parameter: String
        package var time: String

        package init(parameter: String, time: String) {
            self.parameter = parameter
            self.time = time
        }
    }

    package init(path: String, page: Int, since: Since? = nil) {
        self.path = path
        self.page = page
        self.since = since
    }
}

package struct Page: Sendable, Equatable {
    /// A JSON array, to the letter as it came.
    package var records: JSONText
    package var count: Int
    /// How many records the upstream says the whole list has.
    package var total: Int?
    package var isLast: Bool

    package init(records: JSONText, count: Int, total: Int?, isLast: Bool) {
        self.records = records
        self.count = count
        self.total = total
        self.isLast = isLast
    }
}
