import ReferenceUpstream

/// One event of a simulation, and how long the world runs on after it.
struct Step: Sendable, CustomStringConvertible {
    enum Action: Sendable {
        // Local writes; `pick` selects one of the visible records.
        case create(daemon: Int, entity: String, pick: Int)
        case edit(daemon: Int, entity: String, pick: Int, fields: Int)
        case delete(daemon: Int, entity: String, pick: Int)
        /// Several writes in one transaction; with `fails`, one of them is refused.
        case batch(daemon: Int, pick: Int, isAtomic: Bool, fails: Bool)
        /// A user retries failed changes.
        case retryFailed(daemon: Int)
        // Other users' writes, upstream; `late`: milliseconds from the change time until others see it.
        case serverCreate(entity: String, pick: Int, late: Int)
        case serverEdit(entity: String, pick: Int, late: Int)
        case serverDelete(entity: String, pick: Int)
        /// An order that was deleted comes back under its key.
        case serverRestore(pick: Int)
        // Faults.
        case offline(daemon: Int)
        case online(daemon: Int)
        case fault(daemon: Int, SimulatedNetwork.Fault, times: Int)
        case outage(daemon: Int, SimulatedNetwork.Outage.Kind, seconds: Int)
        case poison(entity: String, pick: Int?, SimulatedServer.Poison)
        case healPoison
        /// The process dies after this many more jobs, in the middle of its work.
        case crash(daemon: Int, afterJobs: Int)
        case start(daemon: Int)
        /// The process is stopped, as by SIGTERM.
        case stop(daemon: Int)
        case jump(daemon: Int, seconds: Int)
        // A user's requests to the engine.
        case pause(daemon: Int)
        case resume(daemon: Int)
        case sync(daemon: Int, full: Bool)
        case nothing
    }

    /// The step's number in the seed's whole script; it seeds the randomness from here on.
    var number: Int
    var action: Action
    /// Milliseconds.
    var wait: Int

    var description: String { "\(number). \(action), then \(wait) ms" }
}

/// Generates a seed's script.
struct ScriptMaker {
    private var random: SplitMix64
    private let settings: SimulationSettings
    private let favourite: Int

    init(seed: UInt64, settings: SimulationSettings) {
        random = SplitMix64(seed: seed ^ 0x7363_7269_7074_0000)
        favourite = random.below(1000)
        self.settings = settings
    }

    mutating func script() -> [Step] {
        (1...random.within(8...32)).map { Step(number: $0, action: action(), wait: wait()) }
    }

    private mutating func wait() -> Int {
        let longest = random.pick([1, 50, 200, 1_000, 5_000, 30_000, 150_000])
        return random.within(0...longest)
    }

    private mutating func action() -> Step.Action {
        switch random.below(100) {
        case 0..<12: .create(daemon: daemon, entity: entity, pick: pick)
        case 12..<29: .edit(daemon: daemon, entity: entity, pick: pick, fields: random.within(1...3))
        case 29..<32: .batch(daemon: daemon, pick: pick, isAtomic: random.chance(0.5), fails: random.chance(0.4))
        case 32..<38: .delete(daemon: daemon, entity: random.pick(["customers", "orders"]), pick: pick)
        case 38..<40: .retryFailed(daemon: daemon)
        case 40..<46: .serverCreate(entity: entity, pick: pick, late: late)
        case 46..<58: .serverEdit(entity: entity, pick: pick, late: late)
        case 58..<62: serverDelete
        case 62 where settings.feeds.deletions != .marks: .serverRestore(pick: pick)
        default: fault()
        }
    }

    private mutating func fault() -> Step.Action {
        switch random.below(40) {
        case 0..<3: .offline(daemon: daemon)
        case 3..<7: .online(daemon: daemon)
        case 7..<17:
            .fault(daemon: daemon, random.pick(SimulatedNetwork.Fault.allCases), times: random.within(1...4))
        case 17:
            .poison(
                entity: entity, pick: random.chance(0.5) ? pick : nil, random.pick(SimulatedServer.Poison.allCases))
        case 18: .healPoison
        case 19..<25: .crash(daemon: daemon, afterJobs: random.within(0...120))
        case 25..<28: .start(daemon: daemon)
        case 28: .stop(daemon: daemon)
        case 29..<31: .jump(daemon: daemon, seconds: seconds)
        case 31: .pause(daemon: daemon)
        case 32..<34: .resume(daemon: daemon)
        case 34..<36:
            .outage(
                daemon: daemon, random.pick(SimulatedNetwork.Outage.Kind.allCases), seconds: random.within(1...200))
        default: .sync(daemon: daemon, full: random.chance(0.3))
        }
    }

    private var daemon: Int { mutating get { random.below(settings.daemons) } }
    private var entity: String { mutating get { random.pick(settings.entities) } }
    /// Mostly the same one, so that a few records change often.
    private var pick: Int { mutating get { random.chance(0.6) ? favourite : random.below(1000) } }
    private var late: Int { mutating get { random.chance(0.2) ? random.within(1...30_000) : 0 } }

    private var seconds: Int {
        mutating get {
            let longest = random.pick([60, 86_400, 315_576_000])
            return random.within(-longest...longest)
        }
    }

    private var serverDelete: Step.Action {
        mutating get {
            .serverDelete(entity: entity, pick: pick)
        }
    }
}
