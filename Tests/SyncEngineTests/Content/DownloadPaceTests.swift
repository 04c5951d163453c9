import CacheStore
import ContentStore
import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

@Suite("The pace of a download")
struct DownloadPaceTests {
    /// Seconds on a clock of its own.
    private final class Seconds: Sendable {
        private let passed = Mutex(0)

        func set(_ seconds: Int) { passed.withLock { $0 = seconds } }

        var now: Timestamp { Timestamp.sample + .seconds(passed.withLock { $0 }) }
    }

    private let seconds = Seconds()

    private func sink() -> BodySink {
        BodySink(DownloadPace { [seconds] in seconds.now }) { _ in }
    }

    private func takes(_ count: Int, _ sink: BodySink) -> Bool {
        [UInt8](repeating: 0, count: count).withUnsafeBytes { sink.take($0) }
    }

    @Test func `a content that trickles is given up after a minute`() {
        let sink = sink()
        for second in 0...60 {
            seconds.set(second)
            #expect(takes(1, sink))
        }
        seconds.set(62)
        #expect(!takes(1, sink))
    }

    @Test func `a burst now and then is not enough`() {
        let sink = sink()
        for second in [0, 50, 100] {
            seconds.set(second)
            #expect(takes(64 << 10, sink))
        }
        seconds.set(150)
        #expect(!takes(64 << 10, sink))
    }

    @Test func `a slow link may take as long as it needs`() {
        let sink = sink()
        for minute in 0...60 {
            seconds.set(60 * minute)
            #expect(takes(240 << 10, sink))
        }
    }

    /// Gives a kilobyte, waits two hours, and gives another.
    private struct Trickle: BareUpstream {
        let seconds: Seconds

        func download(_ address: String, limit: Int, into sink: BodySink) async throws(UpstreamError) -> String? {
            for second in [0, 7200] {
                seconds.set(second)
                let isTaken = [UInt8](repeating: 0, count: 1024).withUnsafeBytes { sink.take($0) }
                guard isTaken else { throw .malformed("refused") }
            }
            return nil
        }
    }

    @Test func `one that tells creations apart must not trickle either`() async throws {
        let folder = try TemporaryFolder()
        let schema = try EntitySchema(
            yaml: """
                schema: home
                upstream: { base_url: http://localhost }
                entities:
                  scans:
                    content: { upload: { call: "PUT /scans/{id}" } }
                    fields: { id: { type: string } }
                    pull: { path: /scans }
                """, file: "home.yaml")
        var environment = SyncEnvironment(
            store: try CacheStore.temporary(schema), contents: try ContentFolder(path: folder.path("content")),
            upstream: Trickle(seconds: seconds), settings: SyncSettings(),
            time: SyncTime(clock: ManualClock(), now: { .sample }), random: { 0.5 }, callbacks: SyncCallbacks(),
            log: .silent)
        environment.monotonicNow = { [seconds] in seconds.now }
        let witness = ContentWitness(environment: environment, upstream: environment.upstream)
        let hash = try await witness.hash(of: "http://localhost/scan", try #require(schema["scans"]))
        #expect(hash == nil)
    }

    @Test func `the time before the first byte does not count`() {
        let sink = sink()
        seconds.set(3600)
        #expect(takes(1, sink))
    }
}
