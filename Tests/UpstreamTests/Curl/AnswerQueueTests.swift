import Synchronization
import Testing

@testable import Upstream

@Suite struct AnswerQueueTests {
    @Test("exchanges get memory in turn, even where a later one would fit")
    func order() {
        var queue = AnswerQueue(limit: 10)
        #expect(queue.take(6, for: 1) == 6)
        #expect(queue.take(6, for: 2) == nil)
        #expect(queue.take(1, for: 3) == nil)
        #expect(queue.giveBack(1).isEmpty)
        #expect(queue.giveBack(5).map(\.id) == [2, 3])
        #expect(queue.giveBack(7).isEmpty)
        #expect(queue.take(10, for: 4) == 10)
    }

    @Test("one that wants more than there is gets all of it in its turn")
    func tooMuch() {
        var queue = AnswerQueue(limit: 10)
        #expect(queue.take(1 << 40, for: 1) == 10)
        #expect(queue.take(1, for: 2) == nil)
        #expect(queue.giveBack(10).map(\.bytes) == [1])
    }

    @Test("one that leaves lets the next ones go on")
    func leaving() {
        var queue = AnswerQueue(limit: 10)
        #expect(queue.take(5, for: 1) == 5)
        #expect(queue.take(9, for: 2) == nil)
        #expect(queue.take(5, for: 3) == nil)
        #expect(queue.leave(2).map(\.id) == [3])
        #expect(queue.leave(7).isEmpty)
    }

    @Test("a share gives back its bytes once: what it does not need, then the rest when it is released or dropped")
    func share() {
        let given = Mutex<[Int]>([])
        var share: AnswerShare? = AnswerShare(10) { bytes in given.withLock { $0.append(bytes) } }
        share?.shrink(to: 4)
        share?.shrink(to: 6)
        share?.release()
        share?.release()
        share = nil
        #expect(given.withLock { $0 } == [6, 4])
        share = AnswerShare(3) { bytes in given.withLock { $0.append(bytes) } }
        share = nil
        #expect(given.withLock { $0 } == [6, 4, 3])
    }
}
