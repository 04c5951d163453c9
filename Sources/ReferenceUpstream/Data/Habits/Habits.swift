/// The habits of an upstream: in which ways it differs from an ideal one.
package struct Habits: Sendable, Equatable {
    /// What is set with one habit.
    enum Value: Sendable, Equatable {
        case on
        case time(Duration)
        case share(Double)
        case count(Int)
        case names([String])
        case spell(Spell)
    }

    var values: [Habit: Value] = [:]

    package init() {}

    package init(_ flags: Habit...) {
        for flag in flags { values[flag] = .on }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// Those that are set, in the order of their declaration.
    package var names: [Habit] { Habit.allCases.filter { values[$0] != nil } }

    package subscript(habit: Habit) -> Bool { values[habit] != nil }

    package func time(_ habit: Habit) -> Duration? { if case .time(let time) = values[habit] { time } else { nil } }

    package func share(_ habit: Habit) -> Double { if case .share(let share) = values[habit] { share } else { 0 } }

    package func count(_ habit: Habit) -> Int? { if case .count(let count) = values[habit] { count } else { nil } }

    package func names(_ habit: Habit) -> [String] {
        if case .names(let names) = values[habit] { names } else { [] }
    }

    package func spell(_ habit: Habit) -> Spell? {
        if case .spell(let spell) = values[habit] { spell } else { nil }
    }

    package mutating func set(_ habit: Habit) { values[habit] = .on }
    package mutating func set(_ habit: Habit, _ time: Duration) { values[habit] = .time(time) }
    package mutating func set(_ habit: Habit, share: Double) { values[habit] = .share(share) }
    package mutating func set(_ habit: Habit, count: Int) { values[habit] = .count(count) }
    package mutating func set(_ habit: Habit, names: [String]) { values[habit] = .names(names) }
    package mutating func set(_ habit: Habit, _ spell: Spell) { values[habit] = .spell(spell) }
    package mutating func drop(_ habit: Habit) { values[habit] = nil }

    /// The first of these that is set.
    func first(of habits: [Habit]) -> Habit? { habits.first { values[$0] != nil } }

    /// How the server chooses keys; nil when callers may choose them.
    var keyStyle: Habit? { first(of: [.integerIDs, .largeIDs, .hugeIDs, .slugs]) }
}
