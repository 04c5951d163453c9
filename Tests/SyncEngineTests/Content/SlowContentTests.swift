import CacheStore
import ContentStore
import EntitySchema
import JSONText
import Logging
import SyncEngine
import TestSupport
import Testing
import Upstream

@Suite("Contents that come slowly", .timeLimit(.minutes(10)))
struct SlowContentTests {
    private static let home = """
        schema: home
        upstream: { base_url: http://localhost }
        entities:
          photos:
            fields: { id: { type: string }, url: { type: string } }
            content: { url: url }
            pull: { path: /photos }
        """
    private static let records = """
        [{"id":"slow1","url":"https://one.test/"},{"id":"slow2","url":"https://two.test/"},
         {"id":"quick","url":"https://three.test/quick"},{"id":"own","url":"/own"}]
        """

    /// Nothing comes from other hosts, unless the address is that of a quick one.
    private struct Hosts: BareUpstream {
        func serves(_ address: String) -> Bool { address.hasPrefix("/") }

        func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
            guard serves(address) || address.hasSuffix("/quick") else {
                await untilCancelled()
                throw .cancelled
            }
            let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]
            guard png.withUnsafeBytes({ sink.take($0) }) else { throw .malformed("refused") }
            return "image/png"
        }
    }

    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let engine: SyncEngine
    private let photos: Entity

    init() async throws {
        let schema = try EntitySchema(yaml: Self.home, file: "home.yaml")
        photos = try #require(schema["photos"])
        folder = try TemporaryFolder()
        let store = try CacheStore.temporary(schema)
        engine = SyncEngine(
            store: store, contents: try ContentFolder(path: folder.path("content")), upstream: Hosts(),
            settings: SyncSettings(
                writeDelay: .zero, parallel: 1, retry: RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))),
            time: SyncTime(clock: clock, now: { .sample }), random: { 0.5 },
            log: .silent)
        _ = try await store.apply(PulledPage(entity: "photos", records: Self.records), at: .sample)
    }

    @Test func `those at other hosts do not hold up the upstream's own`() async throws {
        async let one = engine.fetchContent(of: "slow1", photos)
        async let two = engine.fetchContent(of: "slow2", photos)
        for _ in 1...2 { await clock.passSleep(of: .seconds(10)) }
        #expect(await engine.fetchContent(of: "own", photos) == .stored)
        clock.advance(by: .seconds(30))
        #expect(await [one, two] == [.timedOut, .timedOut])
    }

    @Test func `of two that hold up others, one goes on`() async throws {
        async let one = engine.fetchContent(of: "slow1", photos)
        async let two = engine.fetchContent(of: "slow2", photos)
        for _ in 1...2 { await clock.passSleep(of: .seconds(10)) }
        async let quick = engine.fetchContent(of: "quick", photos)
        let seconds = Task { [clock] in while !Task.isCancelled { await clock.passSleep(of: .seconds(1)) } }
        #expect(await quick == .stored)
        seconds.cancel()
        clock.advance(by: .seconds(30))
        let ends = await [one, two]
        #expect(ends.contains(.busy) && ends.contains(.timedOut))
    }
}
