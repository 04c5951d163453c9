import ReferenceUpstream
import TestSupport

/// Which habits the simulation draws from.
enum HabitSeeds {
    /// The habits that the engine copes with in every combination: all but two. `slugs`: nothing tells the new key of a
    /// record that was renamed by a write whose answer was lost. `wrongTotals`: a list whose total is always off never
    /// shows which children are gone.
    private static let known = Set(Habit.allCases).subtracting([.slugs, .wrongTotals])

    /// `HABITS=all`, or the names of some, draws from those instead.
    static let holding: Set<Habit> = {
        guard let named = TestRun.environment["HABITS"] else { return known }
        return named == "all"
            ? Set(Habit.allCases) : Set(named.split(separator: ",").compactMap { Habit(rawValue: "\($0)") })
    }()
}
