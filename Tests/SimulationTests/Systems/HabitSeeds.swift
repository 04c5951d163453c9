import ReferenceUpstream
import TestSupport

/// Which habits the simulation draws from.
enum HabitSeeds {
    /// The habits that the engine copes with alone, in every seed of the survey. Of those that are drawn together, a few
    /// in a hundred seeds still break a rule. The two others do so alone: a record that is renamed by a write whose
    /// answer was lost, and totals that are wrong while records are deleted.
    private static let known = Set(Habit.allCases).subtracting([.slugs, .wrongTotals])

    /// `HABITS=all`, or the names of some, draws from those instead.
    static let holding: Set<Habit> = {
        guard let named = TestRun.environment["HABITS"] else { return known }
        return named == "all"
            ? Set(Habit.allCases) : Set(named.split(separator: ",").compactMap { Habit(rawValue: "\($0)") })
    }()
}
