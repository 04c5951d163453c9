import JSONText
import Synchronization
import Testing

@testable import repairminder_sync

@Suite("Progress of long work")
struct ProgressTextTests {
    private let text = ProgressText(label: "orders", unit: .things("rows"))

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

    @Test("bytes are shown in KiB or MiB")
    func bytes() {
        let copy = ProgressText(label: "copying", unit: .bytes)
        #expect(
            copy.line(done: 512 << 20, total: 2 << 30, elapsed: .seconds(8))
                == "[#####               ] 25 %  copying 512 of 2,048 MiB  64 MiB/s  25 s left")
        #expect(copy.line(done: 3 << 10, total: 300 << 10, elapsed: .zero).hasSuffix("copying 3 of 300 KiB"))
    }

    @Test("what was done before the line began does not count for the rate")
    func begun() {
        #expect(
            text.line(done: 60_000, total: 120_000, begun: 40_000, elapsed: .seconds(20))
                == "[##########          ] 50 %  orders 60,000 of 120,000 rows  1,000/s  61 s left")
    }

    @Test("an impossible total, as of a compromised daemon, ends nothing")
    func impossibleTotal() {
        let line = text.line(done: 1, total: .max, elapsed: .seconds(1000))
        #expect(line.hasSuffix("277778 h left"))
    }

    @Test("other work begins with a new rate")
    func otherWork() {
        let drawn = Mutex("")
        let time = Mutex(Duration.zero)
        var line = ProgressLine(
            text, now: { time.withLock { $0 } }, width: { 99 }, draw: { part in drawn.withLock { $0 = part } })
        time.withLock { $0 = .seconds(10) }
        line.begin(text, at: 5)
        line.show(1000, of: nil)
        #expect(drawn.withLock { $0 }.hasSuffix("orders 1,000 rows  100/s"))
        line.begin(ProgressText(label: "clients", unit: .things("rows")), at: 1000)
        time.withLock { $0 = .seconds(12) }
        line.show(3000, of: nil)
        #expect(drawn.withLock { $0 }.hasSuffix("clients 3,000 rows  1,000/s"))
    }

    @Test("a sync is shown by the entity that is pulled, otherwise by its share")
    func sync() throws {
        let pulling = try JSONText(
            parsing: #"""
                {"phase":"pulling orders","progress":0.25,"entities":{"clients":{"rows":9,"state":"idle"},
                 "orders":{"rows":2,"state":"syncing","progress":{"rows":62400,"total":120000}}}}
                """#)
        let orders = ProgressText(label: "orders", unit: .things("rows"))
        #expect(ProgressLine.sample(of: pulling) == .init(text: orders, done: 62_400, total: 120_000))
        let unknown = try JSONText(parsing: #"{"entities":{"orders":{"progress":{"rows":7,"total":null}}}}"#)
        #expect(ProgressLine.sample(of: unknown) == .init(text: orders, done: 7, total: nil))
        let pushing = try JSONText(parsing: #"{"phase":"pushing","progress":0.5,"entities":{"orders":{"rows":2}}}"#)
        #expect(
            ProgressLine.sample(of: pushing) == .init(text: ProgressText(label: "pushing"), done: 500, total: 1000))
        let idle = try JSONText(parsing: #"{"phase":null,"progress":1,"entities":{"orders":{"rows":2}}}"#)
        #expect(ProgressLine.sample(of: idle) == nil)
    }

    @Test("a probe is shown by the request that it makes")
    func probe() {
        let progress = ProbeProgress(most: 50)
        #expect(progress.sample == nil)
        progress.note(7, "/orders?page=2")
        let label = "request 7 of at most 50: GET /orders?page=2"
        #expect(progress.sample == .init(text: ProgressText(label: label)))
        #expect(ProgressText(label: label).line(done: 0, total: nil, elapsed: .seconds(3)) == label)
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
