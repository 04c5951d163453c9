import ReferenceUpstream
import TestSupport

/// Which habits the simulation draws from.
enum HabitSeeds {
    /// The habits that the engine copes with, alone and together. `Set(Habit.allCases)` switches all of them on.
    private static let known: Set<Habit> = []

    /// `HABITS=all`, or the names of some, draws from those instead.
    static let holding: Set<Habit> = {
        guard let named = TestRun.environment["HABITS"] else { return known }
        return named == "all"
            ? Set(Habit.allCases) : Set(named.split(separator: ",").compactMap { Habit(rawValue: "\($0)") })
    }()
}
