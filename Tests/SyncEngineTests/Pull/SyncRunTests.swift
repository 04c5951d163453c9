import EntitySchema
import Testing

@testable import SyncEngine

@Suite("The sync under way")
struct SyncRunTests {
    @Test("each entity counts the same in the progress, the one under way by its share of the records")
    func progress() {
        var run = SyncRun()
        #expect(run.progress == 1, "nothing is under way")
        run.begin(SyncRequest())
        run.expect(4)
        #expect(run.isRunning && run.progress == 0)
        run.started("orders")
        run.progressed("orders", seen: 5, total: nil)
        #expect(run.progress == 0, "it is not known how much there is")
        run.progressed("orders", seen: 1, total: 2)
        #expect(run.progress == 0.125)
        run.progressed("orders", seen: 3, total: 2)
        #expect(run.progress == 0.25, "more than the upstream says there is")
        run.finished("orders", error: nil, at: Timestamp(milliseconds: 0))
        run.started("parts")
        #expect(run.progress == 0.25)
        run.progressed("parts", seen: 0, total: 0)
        #expect(run.progress == 0.5, "an empty list is read")
        run.finished("parts", error: nil, at: Timestamp(milliseconds: 0))
        run.end(at: Timestamp(milliseconds: 0))
        #expect(!run.isRunning && run.progress == 1)
        run.begin(SyncRequest())
        run.started("orders")
        #expect(run.progress == 0, "an earlier run does not count")
    }

    @Test("an entity that is read twice counts once in the progress")
    func again() {
        var run = SyncRun()
        run.begin(SyncRequest())
        run.expect(4)
        for _ in 1...2 { run.finished("parts", error: nil, at: Timestamp(milliseconds: 0)) }
        #expect(run.progress == 0.25)
    }

    @Test("an entity that was read while another one took long counts as done, also while it is read again")
    func meanwhile() {
        var run = SyncRun()
        run.begin(SyncRequest())
        run.expect(2)
        run.started("orders")
        run.progressed("orders", seen: 1, total: 2)
        run.started("parts")
        run.progressed("parts", seen: 1, total: 2)
        #expect(run.progress == 0.5)
        run.finished("parts", error: nil, at: Timestamp(milliseconds: 0))
        run.continued("orders")
        #expect(run.progress == 0.75 && run.phase == "pulling orders")
        run.finished("orders", error: nil, at: Timestamp(milliseconds: 0))
        run.started("parts")
        run.progressed("parts", seen: 1, total: 2)
        #expect(run.progress == 1, "it is done already")
    }

    @Test("a run that sends the rest takes on no more, and the next one does again")
    func takesOn() {
        var run = SyncRun()
        #expect(!run.takesOn(SyncRequest()))
        run.begin(SyncRequest())
        #expect(run.takesOn(SyncRequest(entities: ["orders"])) && !run.takesOn(SyncRequest(full: true)))
        run.pushesTheRest()
        #expect(!run.takesOn(SyncRequest()))
        run.end(at: Timestamp(milliseconds: 0))
        run.begin(SyncRequest())
        #expect(run.takesOn(SyncRequest()))
    }

    @Test("an entity that was read well in the end is no error of the run")
    func readAgain() {
        let time = Timestamp(milliseconds: 0)
        var run = SyncRun()
        run.begin(SyncRequest())
        run.finished("orders", error: "no answer", at: time)
        run.finished("parts", error: "an empty page", at: time)
        #expect(run.error == "orders: no answer")
        run.finished("orders", error: nil, at: time)
        #expect(run.error == "parts: an empty page")
        run.finished("parts", error: nil, at: time)
        run.end(at: time)
        #expect(run.error == nil && run.failures == 0)
    }
}
