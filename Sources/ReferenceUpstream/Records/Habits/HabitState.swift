internal import EntitySchema
internal import Synchronization

/// The habits that are set, and what they need to know.
struct HabitState: Sendable {
    var habits = Habits()
    /// When they were set.
    var since = Timestamp(milliseconds: 0)
    /// Shared by all copies of a store.
    let tally: HabitTally
    /// What replicas still show: the store as it was until each time, oldest first.
    var versions: [Version] = []
    /// Every list is shown empty.
    var emptiesLists = false
    /// The number of the last key that was generated.
    var lastNumber = 0

    struct Version: Sendable {
        var until: Timestamp
        var store: Store
    }

    init(seed: UInt64) { tally = HabitTally(seed: seed) }

    func chance(of habit: Habit) -> Bool {
        let share = habits.share(habit)
        return share > 0 && tally.draw { $0.chance(share) }
    }

    /// Whether a habit that concerns a share of the records concerns this one: always the same ones.
    static func concerns(_ key: String, share: Double) -> Bool {
        let hash = key.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var random = SplitMix64(seed: hash)
        return random.chance(share)
    }
}

/// Counts how often each habit took effect, and draws where one needs chance.
final class HabitTally: Sendable {
    private struct State {
        var counts: [Habit: Int] = [:]
        var random: SplitMix64
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed ^ 0x6861_6269_7473))) }

    var counts: [Habit: Int] { state.withLock { $0.counts } }

    func note(_ habit: Habit) { state.withLock { $0.counts[habit, default: 0] += 1 } }

    func draw<Result: Sendable>(_ draw: (inout SplitMix64) -> Result) -> Result {
        state.withLock { draw(&$0.random) }
    }
}
