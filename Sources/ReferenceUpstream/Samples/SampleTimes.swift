internal import EntitySchema
internal import JSONText

/// The times of one invented record, in order: made, then what happened to it, last its change.
struct SampleTimes {
    let entity: Entity
    /// Milliseconds since 1970.
    let born: Int64

    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour
    private static let now = SampleGenerator.reference.milliseconds

    /// By field; `values` are the record's others.
    func values(beside values: [String: JSONText], _ random: inout SplitMix64) -> [String: JSONText] {
        var times: [String: JSONText] = [:]
        var last = born
        var isFirst = true
        for field in inOrder() {
            let name = SampleName(field.name)
            guard isSet(field, name, values, &random) else {
                times[field.name] = .null
                continue
            }
            var time = isFirst ? born : later(than: last, by: 20 * Self.day, &random)
            if name.isAhead {
                time = ahead(of: last, values, &random)
            } else if name.isBehind {
                time = born - Int64(random.below(Int(1000 * Self.day)))
            } else {
                if name.contains("end", "finish") {
                    time = min(Self.now, last + Self.hour * Int64(1 + random.below(3)))
                }
                isFirst = false
                last = time
            }
            times[field.name] = .string(Timestamp(milliseconds: time).description)
        }
        if let changed = entity.pull?.changedAt {
            let time = isFirst ? born : later(than: last, by: 5 * Self.day, &random)
            times[changed] = .string(Timestamp(milliseconds: time).description)
        }
        return times
    }

    /// As they follow each other: nothing happens to a record before it is made.
    private func inOrder() -> [Field] {
        let times = entity.fields.filter {
            $0.kind == .time && $0.name != entity.pull?.changedAt && $0.derivation == nil
        }
        let made = times.filter { SampleName($0.name).contains("created", "timestamp", "generated") }
        return made + times.filter { time in !made.contains { $0.name == time.name } }
    }

    /// A `completed_at` is there when the record is completed; one that need not be there is missing now and then.
    private func isSet(
        _ field: Field, _ name: SampleName, _ values: [String: JSONText], _ random: inout SplitMix64
    ) -> Bool {
        if field.name == entity.pull?.deleted || name.contains("deleted") { return false }
        if let reached = entity.hasReached(name.words.first ?? "", values) { return reached }
        return field.required || name.contains("created") || random.chance(0.75)
    }

    /// What is still to be done falls due from now on, all else some time after the record was made.
    private func ahead(of time: Int64, _ values: [String: JSONText], _ random: inout SplitMix64) -> Int64 {
        let isOpen = values.values.contains { ["pending", "open", "scheduled"].contains($0.string) }
        let start = isOpen ? Self.now : time
        return start + Int64(random.below(Int(60 * Self.day))) + Self.hour
    }

    private func later(than time: Int64, by most: Int64, _ random: inout SplitMix64) -> Int64 {
        min(time + Int64(random.below(Int(most))) + 1, max(Self.now, time))
    }
}

extension Entity {
    /// Whether a record is in a state, by an enum that has it or a boolean that is named after it; nil where there is no
    /// such state.
    func hasReached(_ state: String, _ values: [String: JSONText]) -> Bool? {
        for field in fields {
            switch field.kind {
            case .enum(let known) where known.contains { $0.value == state }: return values[field.name]?.string == state
            case .boolean where field.name == state || field.name == "is_\(state)":
                return values[field.name]?.boolean == true
            default: break
            }
        }
        return nil
    }
}
