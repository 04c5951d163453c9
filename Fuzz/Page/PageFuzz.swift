import CacheStore
import EntitySchema
import FuzzedCache
import JSONText
import Synchronization
import Upstream

/// Answers a pull with an arbitrary body, and applies it if it is accepted as a page.
///
/// A page must be accepted completely or not at all. Each of its records must be written, skipped or set aside, and
/// what is stored must be JSON. The same page again must write nothing, unless it has one record twice.
final class PageFuzz: Sendable {
    /// Limits how many earlier inputs can affect one input.
    private static let inputsPerCache = 500

    private let state = Mutex<(cache: TemporaryCache?, inputs: Int)>((nil, 0))

    func run(_ input: [UInt8]) throws {
        let cache = try currentCache()
        guard let page = try page(input, cache.schema) else { return }
        let keys = page.records.elements.compactMap { $0["id"]?.plain }
        try waiting {
            let pulled = PulledPage(entity: "orders", records: page.records.text)
            let outcome = try await cache.store.apply(pulled, at: TemporaryCache.now)
            precondition(outcome.records == page.count, "a record was skipped without being counted")
            precondition(
                outcome.written + outcome.deleted + outcome.setAside <= outcome.records, "a record was counted twice")
            let again = try await cache.store.apply(pulled, at: TemporaryCache.now)
            precondition(
                Set(keys).count < keys.count || !again.changed, "the same page changed something the second time")
            for key in keys.prefix(5) {
                if let record = try cache.store.record("orders", key: key) { _ = try JSONText(record) }
            }
        }
    }

    private func currentCache() throws -> TemporaryCache {
        try state.withLock { state in
            state.inputs += 1
            if let cache = state.cache, state.inputs % Self.inputsPerCache != 0 { return cache }
            let cache = try TemporaryCache.made()
            state.cache = cache
            return cache
        }
    }

    private func page(_ body: [UInt8], _ schema: EntitySchema) throws -> Page? {
        guard let list = schema["orders"]?.pull?.list else { fatalError("the schema does not pull orders") }
        return try waiting {
            do throws(UpstreamError) {
                let upstream = HTTPUpstream(
                    UpstreamAccess(
                        plan: schema.upstream, transport: OneAnswer(body: body), now: { TemporaryCache.now }),
                    token: nil)
                return try await upstream.page(PageRequest(path: "/orders", list: list))
            } catch .malformed {
                return nil
            }
        }
    }
}

/// Answers every request with one body.
private struct OneAnswer: HTTPTransport {
    let body: [UInt8]

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        HTTPResponse(status: 200, body: body)
    }
}

private enum Fuzzing {
    static let target = PageFuzz()
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzzing(data, count) { try Fuzzing.target.run($0) }
}
