internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// What follows from the schema for writing one entity's records: the fields to watch, and what depends on each.
final class RecordPlan: Sendable {
    /// Some of the watched fields; those beyond the 63rd share a bit.
    typealias Fields = UInt64

    /// A field of these records that names a record which depends on them.
    struct Reference {
        var tie: Entity.Tie
        /// Its place among the watched fields.
        var place: Int
        /// What the other record's figures depend on.
        var counted: Fields
        /// The other record's figures can be had from its server's values and the differing records alone.
        var isSimple: Bool
        /// The other entity's mark, if that has figures.
        var unsaid: RecordMark?
    }

    /// Records that are deleted with these.
    struct Owned {
        var table: EntityTable
        var field: String
    }

    let table: EntityTable
    let statements: RecordStatements
    let overlay: RecordOverlay
    let hasDerivedFields: Bool
    let columns: [EntityTable.Column]
    /// The place of each column's field among the watched fields, and what the column makes of its values.
    let columnFields: [(place: Int, kind: ColumnValue.Kind)]
    let references: [Reference]
    let owned: [Owned]
    let reminders: [ReminderSchedule]
    /// Those that get the records' own events.
    let hooks: [HookRule]
    /// The fields in conditions of these.
    let hookFields: [String]
    /// What to note for the search index before a change, and after a deletion.
    let searchNotes: [RecordSearchNote]
    let searchDeletion: NumberedSQL?
    /// How far the search index is; nil when there is none.
    let searchEnd: NumberedSQL?
    /// The fields that follow the queue.
    let followed: [String]
    /// See `Entity.sendsUpdatesAlike`.
    let sendsUpdatesAlike: Bool
    /// The fields that these can have; nil for any, or if updates are not sent alike.
    let sendableInUpdates: [String]?
    /// The references in the order of the fields, and the entities that they are to.
    let referring: [(field: String, target: String)]
    /// See `EntitySchema.orderedTogether`.
    let orderedTogether: [String]
    /// The derived fields that the server may send and that need nothing else then; nil when there are others.
    let simpleFigures: [Int]?
    /// The places of the fields that are computed from other records.
    let figures: [Int]

    private let watched: [String]
    private let finder: JSONMemberFinder
    /// Where those watched fields are found that have no member of their own name.
    private let sources: [(place: Int, path: String)]
    /// The members of a record that these paths begin with.
    private let holders: [String]
    /// The fields that are computed on reading: the place of each, and those of the fields that it is made of.
    private let computed: [Computed]
    private let computedPlaces: [Int]
    /// Raised by what is written.
    let marks: RecordMarks

    private struct Computed {
        var place: Int
        var derivation: Derivation
        var places: [String: Int]
        /// It is set only when its own value changes, and nothing else reads it.
        var isSetAlone: Bool

        /// Nil for null. `values`: those of the watched fields.
        func value(_ values: [JSONText?]) -> JSONText? {
            let value = derivation.own { name in places[name].flatMap { values[$0] } }
            return value?.kind == .null ? .none : value
        }
    }

    var entity: Entity { table.entity }

    init(
        _ entity: Entity, in schema: EntitySchema, hooks: [HookRule], marks: [String: RecordMarks],
        _ numbers: inout StatementNumbers
    ) {
        let search = SearchTable(entity)
        let table = EntityTable(entity: entity)
        self.table = table
        statements = RecordStatements(table, &numbers)
        overlay = RecordOverlay(entity)
        let rules = schema.reminders.filter { $0.entity == entity.name }
        reminders = rules.map { ReminderSchedule(rule: $0, table: table) }
        let ownHooks = hooks.filter { $0.entity == entity.name && $0.events.contains(where: \.isOfRecord) }
        self.hooks = ownHooks
        hookFields = Set(ownHooks.flatMap { $0.conditions.map(\.field) }).sorted()
        followed = entity.fields.filter { $0.follow != nil }.map(\.name)
        let isAlike = entity.sendsUpdatesAlike
        sendsUpdatesAlike = isAlike
        sendableInUpdates = isAlike ? entity.sendable(for: .update, record: .object([:])) : nil
        referring = entity.references
        orderedTogether = schema.orderedTogether(with: entity)
        let names = Self.watched(entity, schema, reminders, search)
        watched = names
        finder = JSONMemberFinder(names)
        let sources = names.indices.compactMap { place in entity[field: names[place]]?.source.map { (place, $0) } }
        self.sources = sources
        holders = Set(sources.compactMap { JSONPath.steps($0.1).first.map(String.init) }).sorted()
        computed = Self.computed(entity, watched: names, search)
        computedPlaces = computed.map(\.place)
        self.marks = marks[entity.name] ?? RecordMarks(table)
        columns = table.columns
        columnFields = table.storedFields.map { ($0.place(in: names), ColumnValue.Kind($0)) }
        references = Self.references(entity, schema, marks, watched: names)
        owned = Self.owned(by: entity, schema)
        searchNotes =
            search.map { search in
                search.parts.map { RecordSearchNote($0, of: search, watched: names, &numbers) }
            } ?? []
        searchDeletion = search.map { numbers.next($0.afterDeletion) }
        searchEnd = search.map { numbers.next($0.end) }
        // No document has those that are computed on reading, unless a local edit is laid over it: then it is made again.
        let derived = entity.derivedFields.filter { !$0.isComputedOnReading }
        hasDerivedFields = !derived.isEmpty
        simpleFigures = derived.allSatisfy(Self.isSimpleFigure) ? derived.map { $0.place(in: names) } : nil
        figures = entity.figures.map { $0.place(in: names) }
    }

    // MARK: Values

    /// The values of the watched fields in a version of the record; nil for one that is missing or null.
    func values(in record: JSONText?) -> [JSONText?] {
        var values = givenValues(in: record)
        guard record != nil else { return values }
        for field in computed where values[field.place] == nil { values[field.place] = field.value(values) }
        return values
    }

    /// The same for two versions of a record. A field that is computed from the same values in both, and that only its
    /// column has, is nil in both. `patch`: as `RecordImage.patch`, if it is known.
    func values(
        in old: JSONText?, and new: JSONText?, patch: JSONText?
    ) -> (old: [JSONText?], new: [JSONText?]) {
        guard old != nil, new != nil else { return (values(in: old), values(in: new)) }
        var before = givenValues(in: old)
        var after = patch.flatMap { givenValues(before, patchedBy: $0) } ?? givenValues(in: new)
        for field in computed {
            let isComputed = (before: before[field.place] == nil, after: after[field.place] == nil)
            let isSame = field.places.values.allSatisfy { before[$0] == after[$0] }
            if isSame, isComputed == (true, true), field.isSetAlone { continue }
            if isComputed.before { before[field.place] = field.value(before) }
            if isComputed.after { after[field.place] = field.value(after) }
        }
        return (before, after)
    }

    /// The same without a walk over the whole record; nil if a member that the patch replaces may hold other fields.
    private func givenValues(_ values: [JSONText?], patchedBy patch: JSONText) -> [JSONText?]? {
        guard !holders.contains(where: { patch[$0] != nil }) else { return nil }
        var values = values
        finder.replace(&values, by: patch)
        noteComputed(values)
        return values
    }

    /// Null counts: what is computed is shown in its place.
    private func noteComputed(_ values: [JSONText?]) {
        if let given = marks.given, computedPlaces.contains(where: { values[$0] != nil }) { given.raise() }
    }

    /// Those that the record has; none is computed.
    private func givenValues(in record: JSONText?) -> [JSONText?] {
        guard let record else { return Array(repeating: nil, count: watched.count) }
        var nulls: [Int] = []
        var values = finder.values(in: record) { nulls.append($0) }
        noteComputed(values)
        for (place, path) in sources where values[place] == nil {
            if let value = record.at(path: path), value.kind != .null { values[place] = value }
        }
        for place in nulls { values[place] = nil }
        return values
    }

    /// The fields whose values differ.
    static func differences(_ one: [JSONText?], _ other: [JSONText?]) -> Fields {
        var fields: Fields = 0
        for place in one.indices where one[place] != other[place] { fields |= bit(place) }
        return fields
    }

    /// Whether the server has the record in another place than readers, from the values that each of them sees.
    func isDisplaced(_ image: RecordImage, _ shown: [JSONText?], _ remote: [JSONText?]) -> Bool {
        guard image.remote != nil, !references.isEmpty else { return false }
        return image.isDeleted || references.contains { shown[$0.place] != remote[$0.place] }
    }

    static func bit(_ place: Int) -> Fields { 1 << Fields(min(place, 63)) }

    func fields(_ names: [String]) -> Fields { Self.fields(names, in: watched) }

    static func fields(_ names: [String], in watched: [String]) -> Fields {
        names.reduce(into: 0) { fields, name in
            if let place = watched.firstIndex(of: name) { fields |= bit(place) }
        }
    }

    private static func computed(_ entity: Entity, watched: [String], _ search: SearchTable?) -> [Computed] {
        entity.fields.compactMap { field in
            guard field.isComputedOnReading, let derivation = field.derivation else { return nil }
            let places = derivation.ownFields.map { ($0, watched.firstIndex(of: $0) ?? 0) }
            let isSearched = search?.parts.contains { $0.fields.contains(field.name) } ?? false
            return Computed(
                place: field.place(in: watched), derivation: derivation, places: Dictionary(places) { one, _ in one },
                isSetAlone: !isSearched && !RecordUpdate.sharesBits(fields: watched.count))
        }
    }
}
