import EntitySchema
import ReferenceUpstream

/// What a simulation of a system is made of.
struct SystemPlan {
    var name: String
    var seed: UInt64
    /// The schema as the upstream knows it, and as the daemon does in the end.
    var yaml: String
    /// Schemas that the daemon may start with in between.
    var otherYAMLs: [String] = []
    var habits = Habits()
    /// A rule of the engine that is switched off.
    var mutation: SystemMutation?
    /// As many records has the entity that has most.
    var rows = 9
    /// No one else writes upstream, so nothing may ever conflict, get lost, arrive twice or step back.
    var hasOneWriter = false
    /// Records are deleted, which explains why others vanish.
    var deletes = true
    /// The upstream keeps what belongs to a deleted record, and the daemon's schema says that it does not.
    var keepsOrphans = false
    /// Users correct, discard, retry, resolve and undo.
    var hasPeople = false
    /// How many requests the upstream takes.
    var limits: RequestLimits?
    /// Who signs in; nil for an upstream that asks for no token.
    var user: ReferenceUpstream.User?
    /// How often the daemon pulls, and how often it pulls everything.
    var interval = Duration.seconds(90)
    var fullEvery = Duration.seconds(900)
    /// Values of every type are written, with all that a server may normalise.
    var writesAllTypes = false

    /// A shipped schema on an ideal upstream with bad days.
    static func shipped(_ name: String, yaml: String, seed: UInt64) -> SystemPlan {
        SystemPlan(name: name, seed: seed, yaml: yaml)
    }

    /// A shipped schema on an upstream with habits.
    static func shipped(_ name: String, yaml: String, seed: UInt64, among habits: Set<Habit>) throws -> SystemPlan {
        var random = SplitMix64(seed: seed ^ 0x6861_6269_7400)
        let schema = try EntitySchema(yaml: yaml, file: "\(name).yaml")
        // Their keys are text, and not all of them say how a creation can be looked up.
        let possible = habits.subtracting([
            .integerIDs, .largeIDs, .hugeIDs, .slugs, .emptyAnswers, .successAnswers, .locationAnswers,
            .strictReferences, .coercedReferences,
        ])
        var plan = SystemPlan(name: name, seed: seed, yaml: yaml)
        plan.habits = Habits.drawn(by: &random, for: schema, among: possible)
        plan.drawPeople(&random)
        plan.settle(schema)
        return plan
    }

    /// A schema of its own with a field of every type, drawn to fit the habits.
    static func own(
        seed: UInt64, among habits: Set<Habit>, always: [Habit] = [], keepsOrphans: Bool = false,
        provoke: (inout HabitSchema) -> Void = { _ in }
    ) throws -> SystemPlan {
        var random = SplitMix64(seed: seed ^ 0x6861_6269_7401)
        var style = HabitSchema(drawnBy: &random)
        let draft = try EntitySchema(yaml: style.yaml, file: "own.yaml")
        var drawn = Habits()
        for habit in always { drawn.draw(habit, by: &random, for: draft) }
        for habit in Habits.drawn(by: &random, for: draft, among: habits).names {
            drawn.draw(habit, by: &random, for: draft)
        }
        style.serverKeys = hasServerKeys(seed)
        style.drawWriting(seed: seed)
        style.drawBatching(seed: seed)
        style.drawReading(seed: seed)
        style.drawForms(seed: seed)
        provoke(&style)
        style.adapt(to: drawn, &random)
        if keepsOrphans { style.listOrphans() }
        var plan = SystemPlan(name: "own", seed: seed, yaml: style.yaml)
        plan.habits = drawn
        plan.writesAllTypes = true
        plan.rows = style.pages ? 15 : 60
        plan.drawPeople(&random)
        if random.chance(0.25) { plan.otherYAMLs = style.others }
        if drawn[.knownOnly] { plan.otherYAMLs.append(style.withMotto) }
        plan.settle(try EntitySchema(yaml: style.yaml, file: "own.yaml"))
        guard keepsOrphans else { return plan }
        plan.keepsOrphans = true
        plan.hasOneWriter = false
        plan.deletes = true
        return plan
    }

    /// Whether the upstream chooses the keys of new records.
    static func hasServerKeys(_ seed: UInt64) -> Bool { seed % 2 == 0 }

    /// As the upstream knows the schema.
    var upstreamYAML: String {
        keepsOrphans ? yaml.replacing("on_delete: cascade", with: "on_delete: keep") : yaml
    }

    private mutating func drawPeople(_ random: inout SplitMix64) {
        hasOneWriter = random.chance(0.85)
        deletes = !hasOneWriter || random.chance(0.4)
        hasPeople = random.chance(0.5)
    }

    /// Drops what no client can cope with.
    private mutating func settle(_ schema: EntitySchema) {
        // A gateway that repeats a creation without a key makes a second row, whatever the client does.
        let routes = schema.entities.flatMap { $0.routes(for: .create) }
        let hidesKeys = routes.contains { route in route.batch.map { !route.isKeyShown(in: $0, for: .create) } ?? false
        }
        if schema.upstream.idempotencyHeader == nil || hidesKeys { habits.drop(.repeatedRequests) }
        // One that forgets keys before a lost answer is repeated makes a second row too.
        if let time = habits.time(.forgottenKeys), time < schema.upstream.settle { habits.drop(.forgottenKeys) }
        // Nothing shows children that stand only in single records, if none is served.
        let hasChildrenInSingles = schema.entities.flatMap { $0.pull?.details ?? [] }.contains { detail in
            detail.path == nil && !detail.isInList && schema[detail.entity]?.pull == nil
        }
        if hasChildrenInSingles { habits.drop(.listsOnly) }
        // Where only lists are served, a record that slides between the pages of two full pulls in a row looks the same
        // as a deleted one. The same goes for a list of children with pages and no total.
        let hasBlindPages = schema.entities.flatMap { $0.pull?.details ?? [] }.contains { detail in
            schema[detail.entity]?.pull == nil && detail.path != nil && detail.list.style != .single
                && detail.list.total == nil
        }
        if habits[.listsOnly] || hasBlindPages { habits.drop(.slidingRows) }
        // Nor does anything tell the new key of a record that was renamed by a write whose answer was lost.
        if schema.upstream.idempotencyHeader == nil { habits.drop(.slugs) }
    }
}
