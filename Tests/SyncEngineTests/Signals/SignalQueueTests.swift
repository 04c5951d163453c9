import EntitySchema
import TestSupport
import Testing

@testable import SyncEngine

@Suite("What signals say to read")
struct SignalQueueTests {
    private let start = Timestamp.sample
    private let order = Signal(entity: "orders", key: "a")

    private func at(_ milliseconds: Int) -> Timestamp { start + .milliseconds(milliseconds) }

    /// How many of so many signals added something.
    private func added(_ count: Int, to queue: Reads, at time: Timestamp) -> Int {
        (1...count).count { _ in queue.add(order, at: time) }
    }

    @Test("a record that is named often is read once now, and once more after the gap")
    func coalesces() {
        let queue = Reads(limits: [:])
        #expect(added(1000, to: queue, at: start) == 1)
        #expect(queue.next(at: start) == order)
        // Named again while it is read.
        #expect(added(1000, to: queue, at: at(10)) == 1)
        #expect(queue.next(at: at(10)) == nil)
        queue.end(order)
        #expect(queue.wait(at: at(100)) == .milliseconds(400))
        #expect(queue.next(at: at(499)) == nil)
        #expect(queue.next(at: at(500)) == order)
        queue.end(order)
        #expect(queue.wait(at: at(500)) == nil)
    }

    @Test("keys that look the same, in other bytes, name two records")
    func equivalentKeys() {
        let queue = Reads(limits: [:])
        let (composed, apart) = (Signal(entity: "orders", key: "\u{E9}"), Signal(entity: "orders", key: "e\u{301}"))
        #expect(queue.add(composed, at: start) && queue.add(apart, at: start))
        let read = [queue.next(at: start), queue.next(at: start)]
        #expect(Set(read) == [composed, apart])
    }

    @Test("the gap grows while signals go on, up to a second for a record, and shrinks afterwards")
    func gaps() {
        let queue = Reads(limits: [:])
        var reads: [Int] = []
        for time in stride(from: 0, through: 6000, by: 10) {
            _ = queue.add(order, at: at(time))
            if let next = queue.next(at: at(time)) {
                reads.append(time)
                queue.end(next)
            }
        }
        #expect(reads == [0, 500, 1500, 2500, 3500, 4500, 5500])
        _ = queue.next(at: at(7000))
        queue.end(order)
        _ = queue.add(order, at: at(20_000))
        #expect(queue.next(at: at(20_000)) == order)
        queue.end(order)
        _ = queue.add(order, at: at(20_001))
        #expect(queue.wait(at: at(20_001)) == .milliseconds(499))
    }

    @Test("too many records of one entity become one pull, whose gap grows up to the limit")
    func overflow() {
        let queue = Reads(limits: ["orders": SignalQueue.Limits(records: 3, longestGap: .seconds(2))])
        for key in 1...102 { _ = queue.add(Signal(entity: "orders", key: "\(key)"), at: start) }
        _ = queue.add(Signal(entity: "parts", key: "1"), at: start)
        var next: Set<Signal> = []
        while let signal = queue.next(at: start) { next.insert(signal) }
        #expect(next == [Signal(entity: "orders"), Signal(entity: "parts", key: "1")])
        #expect(queue.underWay == 2)
        for signal in next { queue.end(signal) }
        var pulls: [Int] = []
        for time in stride(from: 500, through: 8000, by: 500) {
            _ = queue.add(Signal(entity: "orders"), at: at(time))
            while let signal = queue.next(at: at(time)) {
                pulls.append(time)
                queue.end(signal)
            }
        }
        #expect(pulls == [500, 1500, 3500, 5500, 7500])
    }

    @Test("as many records of one entity as the limit allows are read one by one")
    func limit() {
        let queue = Reads(limits: ["orders": SignalQueue.Limits(records: 3)])
        let records = (1...3).map { Signal(entity: "orders", key: "\($0)") }
        for record in records { _ = queue.add(record, at: start) }
        var next: Set<Signal> = []
        while let signal = queue.next(at: start) { next.insert(signal) }
        #expect(next == Set(records))
    }

    @Test("what was named and not read is drained by entity, and nothing is left")
    func drains() {
        let queue = Reads(limits: [:])
        _ = queue.add(order, at: start)
        _ = queue.add(Signal(entity: "parts"), at: start)
        #expect(queue.drain() == ["orders", "parts"])
        #expect(queue.next(at: start) == nil && queue.wait(at: start) == nil)
        #expect(queue.add(order, at: start))
    }

    @Test("a signal counts as read once its record, or the entity that stands for it, was read after it")
    func numbers() {
        let queue = Reads(limits: ["orders": SignalQueue.Limits(records: 1)])
        #expect(queue.hasRead(through: 0))
        _ = queue.add(order, at: start)
        #expect(!queue.hasRead(through: 1))
        _ = queue.next(at: start)
        _ = queue.add(order, at: at(10))
        #expect(!queue.hasRead(through: 1))
        queue.end(order)
        #expect(queue.hasRead(through: 1) && !queue.hasRead(through: 2))
        // One more makes it a pull, which stands for both.
        _ = queue.add(Signal(entity: "orders", key: "b"), at: at(20))
        #expect(!queue.hasRead(through: 2))
        #expect(queue.next(at: at(600)) == Signal(entity: "orders"))
        queue.end(Signal(entity: "orders"))
        #expect(queue.hasRead(through: 3))
        _ = queue.add(order, at: at(9000))
        _ = queue.drain()
        #expect(queue.hasRead(through: 4))
    }

    @Test("records that wait are all read, however many")
    func manyWait() {
        let queue = Reads(limits: ["orders": SignalQueue.Limits(records: 1000)])
        for number in 0..<600 { _ = queue.add(Signal(entity: "orders", key: "\(number)"), at: start) }
        var read: Set<Signal> = []
        while let next = queue.next(at: start) { read.insert(next) }
        #expect(read.count == 600)
    }

    @Test("records of long ago are forgotten, so the queue does not grow")
    func forgets() {
        let queue = Reads(limits: [:])
        for number in 0..<20_000 {
            _ = queue.add(Signal(entity: "orders", key: "\(number)"), at: at(number * 10))
            if let next = queue.next(at: at(number * 10)) { queue.end(next) }
        }
        #expect(queue.count <= 501)
    }
}

/// A queue whose steps an expectation can make.
private final class Reads {
    private var queue: SignalQueue

    init(limits: [String: SignalQueue.Limits]) {
        queue = SignalQueue(limits: limits)
    }

    var count: Int { queue.count }
    var underWay: Int { queue.underWay }
    func hasRead(through number: Int) -> Bool { queue.hasRead(through: number) }
    func add(_ signal: Signal, at now: Timestamp) -> Bool { queue.add(signal, at: now) }
    func next(at now: Timestamp) -> Signal? { queue.next(at: now) }
    func end(_ signal: Signal) { queue.end(signal) }
    func wait(at now: Timestamp) -> Duration? { queue.wait(at: now) }
    func drain() -> Set<String> { queue.drain() }
}
