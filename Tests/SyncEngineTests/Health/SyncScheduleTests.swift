import EntitySchema
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("When a machine calls by itself")
struct SyncScheduleTests {
    private let now = Timestamp(milliseconds: 1_767_225_600_000)

    private func schedule(place: Double?, random: Double = 0.5) -> SyncSchedule {
        SyncSchedule(settings: SyncSettings(place: place), random: { random })
    }

    @Test("an empty cache is filled at once; a restart does not move the next sync")
    func starts() {
        let schedule = schedule(place: 0.5)
        #expect(schedule.firstSync(lastSyncedAt: nil, isSameSchema: true, at: now) == .zero)
        let recent = now - .seconds(300)
        #expect(schedule.firstSync(lastSyncedAt: recent, isSameSchema: true, at: now) == .seconds(600))
    }

    @Test("a sync that is overdue at a start, or that a new schema needs, comes within a tenth of the interval")
    func turns() {
        for place in [0, 0.25, 0.999] {
            let schedule = schedule(place: place)
            let turn = Duration.seconds(90) * place
            let (old, recent) = (now - .seconds(86_400), now - .seconds(60))
            #expect(schedule.firstSync(lastSyncedAt: old, isSameSchema: true, at: now) == turn)
            #expect(schedule.firstSync(lastSyncedAt: recent, isSameSchema: false, at: now) == turn)
            #expect(schedule.firstSync(lastSyncedAt: now + .seconds(60), isSameSchema: true, at: now) == turn)
        }
    }

    @Test("a machine that need not keep out of step waits for nothing")
    func alone() {
        let schedule = schedule(place: nil)
        #expect(schedule.firstSync(lastSyncedAt: now, isSameSchema: true, at: now) == .zero)
        #expect(schedule.catchUpWait(after: .seconds(7200)) == .zero)
        #expect(schedule.holdWait(asked: .seconds(30)) == .seconds(30))
        #expect(schedule.probeWait(usual: .seconds(60)) == .seconds(60))
        #expect(schedule.due(now, heldUntil: now + .seconds(300), at: now) == now)
    }

    @Test(
        "a full pull comes once a day at the same time, and after one at another time within a day and three quarters")
    func fullPulls() {
        let schedule = schedule(place: 0.3)
        var (last, dues) = (now, [Timestamp]())
        for quarter in 1...(96 * 7) {
            let time = now + .seconds(900 * quarter)
            guard schedule.isFullDue(lastFullAt: last, at: time) else { continue }
            last = time
            dues.append(time)
        }
        #expect(dues.count >= 5)
        #expect(dues[0].since(now) >= .seconds(64_800) && dues[0].since(now) <= .seconds(151_200))
        #expect(zip(dues, dues.dropFirst()).allSatisfy { $1.since($0) == .seconds(86_400) })
        #expect(schedule.isFullDue(lastFullAt: now + .seconds(1), at: now), "timed by a wrong clock")
    }

    @Test("probes have full jitter, except those after a change of this machine's network")
    func probes() {
        #expect(schedule(place: 0.1, random: 0).probeWait(usual: .seconds(60)) == .milliseconds(50))
        #expect(schedule(place: 0.1, random: 0.75).probeWait(usual: .seconds(60)) == .seconds(90))
        #expect(schedule(place: 0.1, random: 0.75).probeWait(usual: .milliseconds(8)) == .milliseconds(8))
    }

    @Test("what an outage left behind follows at a random moment; after a short one, at once")
    func catchingUp() {
        #expect(schedule(place: 0.1).catchUpWait(after: .seconds(19)) == .zero)
        #expect(schedule(place: 0.1).catchUpWait(after: .seconds(100)) == .seconds(150))
        #expect(schedule(place: 0.1).catchUpWait(after: .seconds(7200)) == .seconds(900))
    }

    @Test("the end that a 429 names is not the moment at which everyone calls")
    func throttling() {
        let schedule = schedule(place: 0.1)
        #expect(schedule.holdWait(asked: .seconds(300)) == .seconds(345))
        #expect(schedule.holdWait(asked: .seconds(2)) == .seconds(3))
        let end = now + .seconds(300)
        #expect(schedule.due(now + .seconds(100), heldUntil: end, at: now) == end + .seconds(450))
        #expect(schedule.due(end + .seconds(1), heldUntil: end, at: now) == end + .seconds(1))
    }
}
