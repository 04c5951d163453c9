import EntitySchema
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
        BodySink(paced: { [seconds] in seconds.now }, store: { _ in })
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

    @Test func `the time before the first byte does not count`() {
        let sink = sink()
        seconds.set(3600)
        #expect(takes(1, sink))
    }
}
