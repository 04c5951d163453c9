import EntitySchema
import JSONText
import ReferenceUpstream

/// Many daemons on one upstream: half of them write the same few records while everything fails.
struct Crowd {
    let world: World
    private let seed: UInt64
    private let steps: Int

    /// What is checked; the rest concerns single daemons, and has seeds of its own.
    private static let rules: Set<Violation.Rule> = [
        .neverLost, .onlyOnce, .notOverwritten, .equalInTheEnd, .inOrder, .lastWriteWins, .sameDecision, .endsCleanly,
    ]

    init(
        _ count: Int, seed: UInt64, policy: ConflictPolicy, steps: Int, databases: DatabaseFolder,
        mutation: CrowdMutation? = nil
    ) throws {
        self.seed = seed
        self.steps = steps
        world = try World(
            seed: seed, databases: databases, mutation: mutation?.mutation,
            rules: mutation.map { [$0.rule] } ?? Self.rules,
            settings: .crowd(of: count, seed: seed, policy: policy))
        for daemon in world.daemons { daemon.trigger = mutation?.trigger }
    }

    private var daemons: [SimulatedDaemon] { world.daemons }
    private var writers: ArraySlice<SimulatedDaemon> { world.daemons.prefix(world.daemons.count / 2) }

    /// Returns the first broken rule.
    func run() throws -> Violation? {
        try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
            var violation: Violation?
            do { try live() } catch let error as Violation { violation = error }
            do { try world.tearDown() } catch let error as Violation { violation = violation ?? error }
            return violation
        }
    }

    private func live() throws {
        var random = SplitMix64(seed: seed ^ 0x6372_6f77_6401)
        createShared()
        for daemon in daemons { try daemon.start() }
        world.executor.run(for: .seconds(20))
        for number in 1...steps {
            world.log.add("step \(number)")
            // Of two writes that reach one daemon at once, neither is known to be the later.
            var idle = Array(writers)
            for _ in 0..<writers.count / 4 + 1 { write(to: idle.remove(at: random.below(idle.count)), &random) }
            try disturb(&random)
            world.executor.run(for: .milliseconds(random.within(1...random.pick([50, 2_000, 30_000]))))
            try EffectCheck(effects: world.server.effects, world: world).run()
        }
        try calm()
        try world.check { try CrowdMeeting(world: world, all: writers).run() }
        world.log.add("the last checks")
        try FinalCheck(world: world).run()
        try world.check { try CrowdCheck(world: world).run() }
    }

    /// The records that all of them write.
    private func createShared() {
        let server = world.server
        for number in 1...3 {
            let customer = server.create("customers", [("name", .string("s\(number).name"))])
            let order = server.create(
                "orders", [("name", .string("s\(number).order")), ("customer_id", .string(customer))])
            server.create("notes", [("text", .string("s\(number).text")), ("order_id", .string(order))])
        }
    }

    /// Only customers are created and deleted: nothing that is created again then lacks what it belongs to.
    private func write(to daemon: SimulatedDaemon, _ random: inout SplitMix64) {
        let pick = random.chance(0.7) ? random.below(2) : random.below(100)
        switch random.below(20) {
        case 0..<3: world.create(daemon, "customers", pick)
        case 3: world.delete(daemon, "customers", random.below(100))
        case 4..<14: world.edit(daemon, "customers", pick, random.within(1...3))
        case 14..<18: world.edit(daemon, "orders", pick, random.within(1...3))
        default: world.edit(daemon, "notes", pick, 1)
        }
    }

    // MARK: Faults

    private static let faults: [SimulatedNetwork.Fault] = [
        .failsBefore, .failsAfter, .lostBefore, .lostAfter, .throttled, .slow,
    ]

    private func disturb(_ random: inout SplitMix64) throws {
        for daemon in daemons where daemon.life == nil && random.chance(0.5) { try daemon.start() }
        for _ in 0..<daemons.count / 10 + 1 {
            let daemon = random.pick(daemons)
            switch random.below(10) {
            case 0..<5: daemon.network.add(random.pick(Self.faults), times: random.within(1...3))
            case 5, 6: daemon.network.setOnline(false)
            default: daemon.network.setOnline(true)
            }
        }
        if random.chance(0.3) {
            world.executor.run(jobs: random.below(200), within: .seconds(2))
            for _ in 0..<daemons.count / 20 + 1 { try random.pick(daemons).crash() }
        }
        if random.chance(0.1) {
            let kind = random.pick(SimulatedNetwork.Outage.Kind.allCases)
            world.log.add("the upstream: \(kind)")
            let end = world.executor.now + .seconds(random.within(1...60))
            for daemon in daemons { daemon.network.fail(kind, until: end) }
        }
    }

    /// Ends all faults, and lets everyone learn of it: a probe may be a minute away.
    private func calm() throws {
        for daemon in daemons {
            daemon.network.heal()
            try daemon.start()
        }
        world.executor.run(for: .seconds(130))
    }
}
