import EntitySchema

@testable import SyncEngine

/// Many machines and one upstream that counts their requests, by simulated time.
///
/// Each machine is the part of an engine that decides when to call: the real `SyncSchedule` and `CircuitBreaker`, driven as
/// `PullLoop`, `PushLoop` and `RecoveryProbe` drive them. What a request carries is left out.
struct Fleet {
    private let plan: FleetPlan
    private let random: FleetRandom
    private var machines: [FleetMachine]
    private var queue = FleetQueue()
    private(set) var requests: RequestRate
    private(set) var written = 0
    private(set) var delivered = 0
    private var events: [(at: Int64, Event)] = []

    private enum Event {
        case upgrade
        case powerOff(Range<Int>)
        case powerOn(Range<Int>)
    }

    /// The requests of a sync: one for each list, and of a full pull in addition.
    static let lists = 9
    static let pages = 100
    static let requestTime: Int64 = 100
    /// On average, for each machine.
    static let writeEvery = 1800.0
    /// Midnight: any will do.
    private static let epoch = Timestamp(milliseconds: 1_767_225_600_000)

    /// `isSpread`: false for machines that know nothing of each other.
    init(_ count: Int, _ plan: FleetPlan, seed: UInt64, isSpread: Bool = true) {
        self.plan = plan
        let random = FleetRandom(seed: seed)
        self.random = random
        requests = RequestRate(length: plan.length)
        machines = []
        for number in 0..<count {
            // Installed over the day before, so that no two are in step at first.
            let place = isSpread ? random.fraction() : nil
            let schedule = SyncSchedule(settings: SyncSettings(place: place), random: { random.fraction() })
            var machine = FleetMachine(schedule: schedule, installedAt: Self.epoch)
            machine.lastSyncedAt = Self.epoch - .seconds(900 * random.fraction())
            machine.lastFullAt = Self.epoch - .seconds(86_400 * random.fraction())
            machine.nextSync = Self.epoch + .seconds(900 * random.fraction())
            machines.append(machine)
            addWake(of: number, at: 0)
            addWrite(of: number, after: 0)
        }
        events += plan.upgrades.map { ($0, .upgrade) }
        for failure in plan.powerFailures {
            events += [
                (failure.range.lowerBound, .powerOff(failure.machines)),
                (failure.range.upperBound, .powerOn(failure.machines)),
            ]
        }
        events.sort { $0.at < $1.at }
    }

    mutating func run() {
        while let next = queue.next, next < plan.length {
            if let event = events.first, event.at <= next {
                events.removeFirst()
                happen(event.1, at: event.at)
                continue
            }
            guard let event = queue.removeFirst() else { return }
            happen(event)
        }
    }

    // MARK: What happens

    private mutating func happen(_ event: Event, at time: Int64) {
        switch event {
        case .upgrade:
            for number in machines.indices where machines[number].isOn { restart(number, at: time) }
        case .powerOff(let range):
            for number in range { machines[number].isOn = false }
        case .powerOn(let range):
            for number in range { restart(number, at: time) }
        }
    }

    private mutating func restart(_ number: Int, at time: Int64) {
        machines[number].start(at: Self.epoch + .milliseconds(time))
        push(number, at: time)
        addWake(of: number, at: time)
    }

    private mutating func happen(_ event: FleetQueue.Event) {
        let number = event.machine
        switch event.kind {
        case .write:
            addWrite(of: number, after: event.at)
            guard machines[number].isOn else { return }
            written += 1
            machines[number].queued += 1
            push(number, at: event.at)
        case .push:
            if machines[number].isOn { push(number, at: event.at) }
        case .wake:
            guard machines[number].isOn, machines[number].plan == event.plan else { return }
            wake(number, at: event.at)
        }
    }

    /// One turn of the pull loop.
    private mutating func wake(_ number: Int, at time: Int64) {
        let now = Self.epoch + .milliseconds(time)
        if machines[number].breaker.isDown {
            machines[number].breaker.probed()
            if request(number, at: time) { machines[number].recovers(at: now) }
        }
        var end = time
        if machines[number].nextSync <= now, machines[number].breaker.reasonNotToCall(at: now) == nil {
            end = sync(number, at: time)
        }
        let later = Self.epoch + .milliseconds(end)
        if let end = machines[number].breaker.hold(at: later) {
            let next = machines[number].nextSync
            machines[number].nextSync = machines[number].schedule.due(next, heldUntil: end, at: later)
        }
        addWake(of: number, at: end)
    }

    /// Pushes, then pulls; returns when it ends.
    private mutating func sync(_ number: Int, at time: Int64) -> Int64 {
        let now = Self.epoch + .milliseconds(time)
        let isFull = machines[number].schedule.isFullDue(lastFullAt: machines[number].lastFullAt, at: now)
        push(number, at: time)
        var at = time
        for _ in 0..<(Self.lists + (isFull ? Self.pages : 0)) {
            at += Self.requestTime
            guard request(number, at: at) else { break }
        }
        let end = Self.epoch + .milliseconds(at)
        let failed = machines[number].breaker.reasonNotToCall(at: end) != nil
        machines[number].failures = failed ? machines[number].failures + 1 : 0
        if !failed {
            machines[number].lastSyncedAt = end
            if isFull { machines[number].lastFullAt = end }
        }
        machines[number].nextSync = end + machines[number].schedule.wait(afterFailures: machines[number].failures)
        return at
    }

    /// Sends what is queued, if the upstream may be called.
    private mutating func push(_ number: Int, at time: Int64) {
        let now = Self.epoch + .milliseconds(time)
        var at = time
        while machines[number].queued > 0, machines[number].breaker.reasonNotToCall(at: now) == nil {
            guard request(number, at: at) else {
                // The pull loop is woken: it probes.
                addWake(of: number, at: at)
                break
            }
            machines[number].queued -= 1
            delivered += 1
            at += Self.requestTime
        }
        if machines[number].queued > 0, let end = machines[number].breaker.hold(at: now) {
            queue.add(.init(at: time + end.since(now).milliseconds, machine: number, kind: .push, plan: 0))
        }
    }

    /// Counts a request, also one that reaches nobody; false when it fails.
    private mutating func request(_ number: Int, at time: Int64) -> Bool {
        requests.add(at: time)
        guard let outage = plan.outage(at: time) else { return true }
        machines[number].fails(
            outage.fault, end: Self.epoch + .milliseconds(outage.range.upperBound),
            at: Self.epoch + .milliseconds(time))
        return false
    }

    // MARK: What comes next

    private mutating func addWake(of number: Int, at time: Int64) {
        let wait = machines[number].pullWait(at: Self.epoch + .milliseconds(time))
        machines[number].plan += 1
        queue.add(
            .init(
                at: time + max(wait.milliseconds, 1), machine: number, kind: .wake, plan: machines[number].plan))
    }

    private mutating func addWrite(of number: Int, after time: Int64) {
        let wait = Int64(2 * Self.writeEvery * 1000 * random.fraction())
        queue.add(.init(at: time + max(wait, 1), machine: number, kind: .write, plan: 0))
    }

    // MARK: What is measured

    /// Changes that no machine has sent yet.
    var queued: Int { machines.reduce(0) { $0 + $1.queued } }

    /// The longest time since a machine was in sync.
    var greatestAge: Duration {
        let end = Self.epoch + .milliseconds(plan.length)
        return machines.map { end.since($0.lastSyncedAt ?? Self.epoch) }.max() ?? .zero
    }
}
