import ReferenceUpstream
import TestSupport

/// Which habits the simulation draws from.
enum HabitSeeds {
    /// The habits that the engine copes with, alone and together. A renamed record whose answer was lost, and totals
    /// that are wrong while records are deleted, still end differently from what the rules say.
    private static let known = Set(Habit.allCases).subtracting([.slugs, .wrongTotals])

    /// `HABITS=all`, or the names of some, draws from those instead.
    static let holding: Set<Habit> = {
        guard let named = TestRun.environment["HABITS"] else { return known }
        return named == "all"
            ? Set(Habit.allCases) : Set(named.split(separator: ",").compactMap { Habit(rawValue: "\($0)") })
    }()
}
