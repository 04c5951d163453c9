import EntitySchema
import JSONText
import Synchronization
import Upstream

/// An upstream with contents in addition to records, as slow and faulty as a test wants.
final class PictureUpstream: Upstream, Sendable {
    struct Upload: Equatable {
        var path: String
        var key: String
        var bytes: [UInt8]
    }

    private struct State {
        var uploads: [Upload] = []
        var failures: [UpstreamError] = []
        var downloads: [String] = []
        var contents: [String: [UInt8]] = [:]
        var refusals: [String: UpstreamError] = [:]
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    let records: FakeUpstream
    /// The content at every address that has none of its own.
    let picture: [UInt8]
    private let state = Mutex(State())

    init(records: FakeUpstream = FakeUpstream(), picture: [UInt8] = []) {
        self.records = records
        self.picture = picture
    }

    var uploads: [Upload] { state.withLock { $0.uploads } }
    var downloads: [String] { state.withLock { $0.downloads } }

    /// Applies the next uploads and answers them with these errors.
    func fail(_ errors: UpstreamError...) { state.withLock { $0.failures += errors } }

    /// Sets the content at an address.
    func set(_ content: [UInt8], at address: String) { state.withLock { $0.contents[address] = content } }

    /// Answers requests for the content at an address with this error.
    func refuse(_ address: String, _ error: UpstreamError) { state.withLock { $0.refusals[address] = error } }

    /// Holds all transfers until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for one in waiting { one.resume() }
    }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isHeld { state.held.append(continuation) }
                return !state.isHeld
            }
            if goesOn { continuation.resume() }
        }
    }

    func upload(
        _ request: PushRequest, from source: BodySource, idempotencyKey: String
    ) async throws(UpstreamError) -> PushAnswer {
        var bytes: [UInt8] = []
        while bytes.count < source.size, let piece = source.read(bytes.count, 7) { bytes += piece }
        let failure = state.withLock { state -> UpstreamError? in
            state.uploads.append(Upload(path: request.path, key: idempotencyKey, bytes: bytes))
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        await pass()
        if let failure { throw failure }
        if request.operation == .create { return try await records.push(request, idempotencyKey: idempotencyKey) }
        return .accepted()
    }

    func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
        let (own, refusal) = state.withLock { state in
            state.downloads.append(address)
            return (state.contents[address], state.refusals[address])
        }
        await pass()
        if let refusal { throw refusal }
        let isTaken = (own ?? picture).withUnsafeBytes { sink.take($0) }
        guard isTaken else { throw .malformed("refused") }
        return "image/png"
    }

    func account() async throws(UpstreamError) -> SignedInAccount? { try await records.account() }
    func page(_ request: PageRequest) async throws(UpstreamError) -> Page { try await records.page(request) }
    func record(of entity: Entity, known: JSONText) async throws(UpstreamError) -> RemoteRecord? {
        try await records.record(of: entity, known: known)
    }
    func push(_ request: PushRequest, idempotencyKey: String) async throws(UpstreamError) -> PushAnswer {
        try await records.push(request, idempotencyKey: idempotencyKey)
    }
    func probe() async throws(UpstreamError) { try await records.probe() }
}
