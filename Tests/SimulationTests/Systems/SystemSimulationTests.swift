import EntitySchema
import ReferenceUpstream
import TestSupport
import Testing

/// Runs every shipped schema, and one with a field of every type, through the simulation.
@Suite("Simulation of the shipped schemas", .serialized)
struct SystemSimulationTests {
    static let schemas = ["repairminder", "repairminder-live", "propdocs", "itori", "messages"]

    @Test("no write is lost or applied twice, and both sides are equal in the end", arguments: schemas)
    func holds(_ name: String) throws {
        let yaml = try ProjectFiles.text("config/schemas/\(name).yaml")
        try SystemSimulation.run(SimulationSeeds.chosen(1, full: 5)) { .shipped(name, yaml: yaml, seed: $0) }
    }

    @Test("nor is any on an upstream with habits", arguments: schemas)
    func holdsWithHabits(_ name: String) throws {
        let yaml = try ProjectFiles.text("config/schemas/\(name).yaml")
        try SystemSimulation.run(SimulationSeeds.first(2, full: 20)) {
            try .shipped(name, yaml: yaml, seed: $0, among: HabitSeeds.holding)
        }
    }

    @Test("nor is any of a value of any type")
    func holdsForEveryType() throws {
        try SystemSimulation.run(SimulationSeeds.first(20, full: 200)) {
            try .own(seed: $0, among: HabitSeeds.holding)
        }
    }

    @Test("without habits, with people and other schemas, no write of any type is lost")
    func holdsWithPeople() throws {
        try SystemSimulation.run(SimulationSeeds.chosen(5, full: 50)) { try .own(seed: $0, among: []) }
    }

    @Test("an upstream that keeps what belonged to a deleted record loses none of it here")
    func holdsWithOrphans() throws {
        try SystemSimulation.run(SimulationSeeds.first(5, full: 50)) {
            try .own(seed: $0, among: [], keepsOrphans: true)
        }
    }

    @Test("an upstream that takes few requests never gets more, and all the rest holds")
    func holdsWithLimits() throws {
        try SystemSimulation.run(SimulationSeeds.first(3, full: 30)) { seed in
            var plan = try SystemPlan.own(seed: seed, among: [])
            let window = RequestLimits.Window(requests: 40, span: .seconds(30))
            plan.limits = RequestLimits(windows: [window], parallel: seed % 2 == 0 ? 2 : nil)
            return plan
        }
    }

    @Test("every habit takes effect in some seed", .enabled(if: TestRun.isFull))
    func effects() throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        for habit in Habit.allCases {
            let seed = try (1...40 as ClosedRange<UInt64>).first { seed in
                let plan = try SystemPlan.own(seed: seed, among: [], always: [habit])
                return try SystemSimulation(plan, databases: databases).run().effects[habit] ?? 0 > 0
            }
            #expect(seed != nil, "\(habit.rawValue) never took effect")
        }
    }

    /// `HABIT_SURVEY=all`, or the names of some, prints which rule each habit breaks alone while one user writes;
    /// `TEST_SEED` replays one seed.
    @Test("survey of the habits", .enabled(if: TestRun.environment["HABIT_SURVEY"] != nil))
    func survey() throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let named = (TestRun.environment["HABIT_SURVEY"] ?? "").split(separator: ",").map(String.init)
        for habit in Habit.allCases where named == ["all"] || named.contains(habit.rawValue) {
            var broken: [String] = []
            var effects = 0
            for seed in SimulationSeeds.chosen(10, full: 50) {
                var plan = try SystemPlan.own(seed: seed, among: [], always: [habit])
                plan.hasOneWriter = true
                plan.deletes = seed % 2 == 0
                plan.hasPeople = false
                let simulation = try SystemSimulation(plan, databases: databases)
                let result = try simulation.run()
                effects += result.effects[habit] ?? 0
                if TestRun.replayed != nil { print(simulation.world.log.text.joined(separator: "\n")) }
                if let violation = result.violation { broken.append("seed \(seed) breaks \(violation)") }
            }
            print("survey: \(habit.rawValue), \(effects) effects: \(broken.isEmpty ? "holds" : "breaks")")
            for line in broken { print("survey:   \(line)") }
        }
    }
}
