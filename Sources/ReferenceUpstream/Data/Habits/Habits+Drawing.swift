package import EntitySchema

extension Habits {
    /// Draws a combination that fits a schema: mostly a few habits, seldom many.
    ///
    /// `possible` limits the choice. The same numbers give the same habits.
    package static func drawn(
        by random: inout SplitMix64, for schema: EntitySchema, among possible: Set<Habit> = Set(Habit.allCases)
    ) -> Habits {
        var habits = Habits()
        let density = random.pick([0.04, 0.08, 0.15, 0.3])
        for habit in Habit.allCases {
            // Drawn for every habit, so that the choice of one does not depend on which others are possible.
            var own = SplitMix64(seed: random.next())
            guard possible.contains(habit), own.chance(density) else { continue }
            habits.draw(habit, by: &own, for: schema)
        }
        return habits
    }

    /// Sets one habit with a drawn strength, unless one that excludes it is set.
    package mutating func draw(_ habit: Habit, by random: inout SplitMix64, for schema: EntitySchema) {
        let isExcluded = Habit.alternatives.contains { group in
            group.contains(habit) && group.contains { $0 != habit && values[$0] != nil }
        }
        guard !isExcluded else { return }
        if habit == .wandering, first(of: [.laggingLists, .laggingRecords, .laggingAnswers]) == nil {
            draw(random.pick([.laggingLists, .laggingRecords]), by: &random, for: schema)
        }
        if habit == .strictReferences || habit == .coercedReferences, keyStyle == nil {
            draw(random.pick([.integerIDs, .largeIDs]), by: &random, for: schema)
        }
        switch habit.kind {
        case .flag: set(habit)
        case .time: set(habit, Self.time(of: habit, by: &random))
        case .share: set(habit, share: Double(1 + random.below(5)) / 10)
        case .count: set(habit, count: Self.count(of: habit, by: &random))
        case .names:
            let names = Self.omissible(in: schema).filter { _ in random.chance(0.4) }
            if !names.isEmpty { set(habit, names: names) }
        case .spell:
            let lasts = random.pick([2, 15, 60, 180])
            set(
                habit,
                Spell(
                    after: .seconds(20 + random.below(120)), lasts: .seconds(lasts),
                    every: .seconds(lasts + 60 + random.below(300))))
        }
    }

    private static func time(of habit: Habit, by random: inout SplitMix64) -> Duration {
        switch habit {
        case .futureTimes: .seconds(random.pick([30, 600, 72_000]))
        case .forgottenKeys: .seconds(random.pick([1, 5, 60]))
        case .forgottenTokens, .forgottenTombstones: .seconds(random.pick([30, 120, 600]))
        default: .milliseconds(random.pick([200, 1_000, 5_000, 15_000, 30_000]))
        }
    }

    private static func count(of habit: Habit, by random: inout SplitMix64) -> Int {
        switch habit {
        case .listsOnly: random.pick([404, 405])
        case .cutLists: 50
        default: random.pick([-3, 1, 3])
        }
    }

    /// The fields that a list can lack without becoming useless: no keys, references, times of changes or tombstones.
    private static func omissible(in schema: EntitySchema) -> [String] {
        var names: [String] = []
        for entity in schema.entities {
            let needed: [String?] = [
                entity.key, entity.pull?.changedAt, entity.pull?.deleted?.name, entity.pull?.whenChanged,
            ]
            for field in entity.fields where !needed.contains(field.name) && !names.contains(field.name) {
                if field.isReference { continue }
                if field.required || field.isDerivedHere { continue }
                names.append(field.name)
            }
        }
        return names
    }
}
