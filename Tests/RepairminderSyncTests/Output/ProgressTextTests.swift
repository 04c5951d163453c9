import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Progress of long work")
struct ProgressTextTests {
    private let text = ProgressText(label: "orders", unit: "rows")

    @Test("the line has the share, the count, the rate and the time left")
    func whole() {
        #expect(
            text.line(done: 62_400, total: 120_000, elapsed: .seconds(20))
                == "[##########          ] 52 %  orders 62,400 of 120,000 rows  3,120/s  19 s left")
    }

    @Test("without a total there is only the count and the rate, and at first no rate")
    func unknown() {
        #expect(text.line(done: 1200, total: nil, elapsed: .seconds(2)) == "orders 1,200 rows  600/s")
        #expect(text.line(done: 12, total: nil, elapsed: .milliseconds(5)) == "orders 12 rows")
        #expect(ProgressText(label: "copying").line(done: 5, total: nil, elapsed: .seconds(9)) == "copying")
    }

    @Test("a label cannot control the terminal")
    func safe() {
        let line = ProgressText(label: "a\u{1B}[2J").line(done: 0, total: nil, elapsed: .zero)
        #expect(line == "a\\u001b[2J")
    }

    @Test("the line is drawn at most ten times a second, never wider than the terminal, and cleared at the end")
    func drawn() {
        let drawn = Mutex<[String]>([])
        let time = Mutex(Duration.zero)
        var line = ProgressLine(
            text, now: { time.withLock { $0 } }, width: { 20 }, draw: { part in drawn.withLock { $0.append(part) } })
        line.show(1, of: 10)
        line.show(2, of: 10)
        time.withLock { $0 = .milliseconds(150) }
        line.show(3, of: 10)
        line.end()
        let parts = drawn.withLock { $0 }
        #expect(parts.count == 3)
        #expect(parts.first == "\r\u{1B}[K[##               …")
        #expect(parts.last == "\r\u{1B}[K")
    }

    @Test("without a terminal nothing is drawn")
    func silent() {
        var line = ProgressLine(text, now: { .zero }, width: { 20 }, draw: nil)
        line.show(1, of: 2)
        line.end()
        #expect(!line.isShown)
    }
}
