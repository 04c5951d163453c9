import ReferenceUpstream

/// Which habits the simulation draws from.
enum HabitSeeds {
    /// The habits that the engine copes with, alone and together. `Set(Habit.allCases)` switches all of them on.
    static let holding: Set<Habit> = []
}
