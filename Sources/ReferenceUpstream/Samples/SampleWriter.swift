internal import EntitySchema
internal import JSONText

/// Fills in one sample record, field by field, by the field's type and name.
struct SampleWriter {
    let entity: Entity
    /// From 1, in the order of creation.
    let number: Int
    let frame: SampleRecord
    let sample: Sample
    /// The account that owns the records, when values are computed from it.
    let account: String?

    /// Words that belong together, such as a make and a model; empty when this entity has none.
    private typealias Setting = [String: String]

    func record(_ random: inout SplitMix64) -> JSONText {
        let sets = SampleWords.sets[entity.name] ?? []
        let setting = sets.isEmpty ? [:] : random.pick(sets)
        var values: [String: JSONText] = [:]
        // Times may depend on the record's state.
        for field in entity.fields where field.kind != .time && frame.references[field.name] == nil {
            values[field.name] = value(of: field, setting, &random)
        }
        makeConsistent(&values)
        values.merge(SampleTimes(entity: entity, born: frame.born).values(beside: values, &random)) { $1 }
        let places = entity.fields.compactMap { field in
            frame.references[field.name] == nil ? nil : field.source.map { JSONPath.steps($0).dropLast() }
        }
        var record = JSONText.object(members: [])
        for field in entity.fields where frame.references[field.name] == nil && !field.isComputedOnReading {
            let path = field.source.map(JSONPath.steps) ?? [field.name[...]]
            // A value in the same object as a reference belongs to the other record.
            guard path.count == 1 || !places.contains(path.dropLast()) else { continue }
            record = record.setting(path[...], to: values[field.name] ?? .null)
        }
        return withReferences(record)
    }

    /// `read_by` has entries only when the record is read; a group has more than two members.
    private func makeConsistent(_ values: inout [String: JSONText]) {
        for field in entity.fields where field.kind == .list {
            let name = SampleName(field.name)
            guard name.isKey else { continue }
            if entity.hasReached(name.words[0], values) == false { values[field.name] = .array([]) }
            guard entity[field: "is_group"]?.kind == .boolean else { continue }
            values["is_group"] = .boolean((values[field.name]?.elements.count ?? 0) > 2)
        }
    }

    private func withReferences(_ record: JSONText) -> JSONText {
        let fields = entity.references.compactMap { field, target -> (key: String, value: JSONText)? in
            frame.references[field].map { (field, sample[target, $0]?.identity ?? .string($0)) }
        }
        let nested = NestedFields(entity: entity, referred: { sample[$0, $1]?.json }, like: { _, _ in nil })
        let filled = nested.applying(.object(members: fields), over: record)
        // In the order of the schema, as a reader expects.
        let names = entity.fields.filter { $0.source == nil }.map(\.name)
        let first = names.compactMap { name in filled[name].map { (key: name, value: $0) } }
        return .object(members: first + filled.members.filter { !names.contains($0.key) })
    }

    // MARK: Values

    private func value(of field: Field, _ setting: Setting, _ random: inout SplitMix64) -> JSONText {
        let value = meant(field, setting, &random)
        guard let mark = entity.pull?.deleted, mark.name == field.name, mark.isSet(by: value) else {
            return field.link == nil ? field.onWire(value) : value
        }
        // A sample is no deleted record.
        if let flag = value.boolean { return .boolean(!flag) }
        let others = field.enumValues?.filter { !mark.isSet(by: .string($0)) } ?? []
        return others.first.map(JSONText.string) ?? .null
    }

    private func meant(_ field: Field, _ setting: Setting, _ random: inout SplitMix64) -> JSONText {
        if field.name == entity.key { return field.kind == .integer ? .integer(number) : .string(frame.key) }
        // Counts and sums are filled in last, when all records exist.
        if field.derivation != nil { return .null }
        if let following = field.follow { return .string(random.pick(following.order)) }
        if field.name.hasPrefix("deleted") { return .null }
        if let value = ofContent(field) { return value }
        if let text = setting[field.name] { return Self.value(text, of: field) }
        let name = SampleName(field.name)
        switch field.kind {
        case .string: return string(field, name, &random)
        case .enum(let values): return .string(random.pick(values).value)
        case .boolean: return .boolean(random.chance(0.3))
        case .integer: return integer(name, &random)
        case .number: return isLeftOut(field, 0.15, &random) ? .null : number(name, &random)
        case .money: return isLeftOut(field, 0.3, &random) ? .null : .decimal(500 + 5 * random.below(6000), places: 2)
        case .object: return isLeftOut(field, 0.5, &random) ? .null : SampleWords.object(name, &random)
        case .list: return list(name, &random)
        case .date: return isLeftOut(field, 0.25, &random) ? .null : SampleWords.day(&random)
        case .reference, .time: return .null
        }
    }

    /// Every content exists; it is drawn when requested.
    private func ofContent(_ field: Field) -> JSONText? {
        guard let plan = entity.content else { return nil }
        if field.name == plan.state { return .string(ContentState.uploaded.rawValue) }
        guard field.name == plan.address, let path = plan.upload?.path else { return nil }
        let record = JSONText.object(members: [(key: entity.key, value: .string(frame.key))])
        return entity.path(path, of: record).map(JSONText.string)
    }

    private func isLeftOut(_ field: Field, _ share: Double, _ random: inout SplitMix64) -> Bool {
        !field.required && random.chance(share)
    }

    private static func value(_ text: String, of field: Field) -> JSONText {
        switch field.kind {
        case .string, .enum, .time, .date, .reference: .string(text)
        default: (try? JSONText(parsing: text)) ?? .string(text)
        }
    }

    private func string(_ field: Field, _ name: SampleName, _ random: inout SplitMix64) -> JSONText {
        if name.isKey { return isLeftOut(field, 0.3, &random) ? .null : .string(random.pick(outsiders(name))) }
        let phrases = SampleWords.phrases["\(entity.name).\(field.name)"]
        let isName = name.words.last == "title" || name.words.last == "name" || field.required
        if !isName, isLeftOut(field, 0.25, &random) { return .null }
        if let phrases { return .string(random.pick(phrases)) }
        return .string(SampleWords.text(name, number: number, &random))
    }

    private func integer(_ name: SampleName, _ random: inout SplitMix64) -> JSONText {
        if name.contains("number") { return .integer(1000 + number) }
        if name.contains("count") { return 0 }
        if name.contains("year") { return .integer(1950 + random.below(74)) }
        if name.contains("footage", "area") { return .integer(600 + 10 * random.below(390)) }
        if name.contains("days") { return .integer(random.pick([7, 30, 90, 180, 365])) }
        if name.contains("minutes", "duration", "seconds") {
            let least = name.contains("max") ? 13 : name.contains("min") ? 1 : 5
            return .integer(5 * (least + random.below(name.contains("min") ? 4 : 8)))
        }
        return .integer(random.below(100))
    }

    private func number(_ name: SampleName, _ random: inout SplitMix64) -> JSONText {
        if name.contains("rating", "stars") { return .decimal(10 + random.below(41), places: 1) }
        if name.contains("score", "difficulty", "importance", "share", "probability", "ratio") {
            return .decimal(random.below(101), places: 2)
        }
        return random.chance(0.1) ? 0 : .decimal(random.below(1000), places: 1)
    }

    private func list(_ name: SampleName, _ random: inout SplitMix64) -> JSONText {
        guard name.isKey else {
            let words = SampleWords.phrases["\(entity.name).\(name.text)"] ?? []
            return .array(words.filter { _ in random.chance(0.3) }.map { .string($0) })
        }
        if let account { return .array(([account] + outsiders(name).prefix(1 + random.below(3))).map { .string($0) }) }
        let people = outsiders(name)
        let count = min(people.count, 2 + random.below(3))
        let start = random.below(people.count)
        return .array((0..<count).map { .string(people[(start + $0) % people.count]) })
    }

    // MARK: Keys of records outside the schema

    /// Keys of records outside the schema: those in a list of this record's required parent, such as the members of a
    /// conversation; otherwise a few fixed ones.
    private func outsiders(_ name: SampleName) -> [String] {
        for field in entity.fields where field.required {
            guard case .reference(let other) = field.kind, let key = frame.references[field.name],
                let parent = sample[other, key]?.json
            else { continue }
            let keys = parent.members.filter { SampleName($0.key).isKey && $0.value.kind == .array }
                .flatMap { $0.value.elements.map(\.plain) }
            if !keys.isEmpty { return keys }
        }
        return SampleWords.strangers(name.words.first ?? "")
    }
}
