import ReferenceUpstream
import TestSupport
import Testing

/// A thousand machines at one upstream. `make simulate-fleet` runs the whole week and prints its figures.
@Suite("Simulation of a fleet")
struct FleetTests {
    private static let machines = 1000
    private static let days = TestRun.environment["FLEET_DAYS"].flatMap { Int($0) } ?? (TestRun.isFull ? 7 : 1)
    private static let rough = FleetPlan.rough(days: days, machines: machines)
    private static let seed = TestRun.replayed ?? 1

    private func run(_ plan: FleetPlan, isSpread: Bool = true) -> Fleet {
        var fleet = Fleet(Self.machines, plan, seed: Self.seed, isSpread: isSpread)
        fleet.run()
        return fleet
    }

    @Test("upgrades, outages and power failures bring nobody in step, and no change is lost")
    func noHerd() {
        let fleet = run(Self.rough)
        print(
            "fleet: \(Self.machines) machines, \(Self.days) days: \(fleet.requests.figures); \(fleet.written) writes, "
                + "\(fleet.delivered) delivered, \(fleet.queued) queued")
        #expect(fleet.requests.mean > 8, "machines that hardly call are no herd")
        #expect(fleet.requests.peak(over: 60) <= 3 * fleet.requests.mean)
        #expect(fleet.written == fleet.delivered + fleet.queued)
        #expect(fleet.queued == 0, "hours after the last outage nothing waits")
        #expect(fleet.greatestAge < .seconds(1200), "every machine is in sync again")
    }

    @Test("the busiest second of a rough time is little worse than that of a calm one")
    func busiestSecond() {
        let calm = run(.calm(days: Self.days))
        let rough = run(Self.rough)
        print("fleet: calm: \(calm.requests.figures)")
        #expect(rough.requests.peak(over: 1) <= 2 * calm.requests.peak(over: 1))
        // Nine requests in a second, about once a second: chance alone brings several syncs together.
        let mean = rough.requests.mean
        let chance = RequestRate.ofChance(Self.machines, Self.rough, mean: mean, seed: Self.seed)
        print("fleet: chance alone: \(chance.figures)")
        #expect(abs(chance.mean - mean) < 0.1 * mean)
        #expect(rough.requests.peak(over: 1) <= 1.6 * chance.peak(over: 1))
    }

    @Test("without spreading, the same time brings herds: the simulation would see them")
    func herds() {
        let fleet = run(Self.rough, isSpread: false)
        print("fleet: without spreading: \(fleet.requests.figures)")
        #expect(fleet.requests.peak(over: 60) > 3 * fleet.requests.mean)
        #expect(fleet.written == fleet.delivered + fleet.queued)
    }
}
