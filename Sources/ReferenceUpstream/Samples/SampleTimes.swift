internal import EntitySchema
internal import JSONText

/// The times of one sample record, in order: creation, later events, and last its change time.
struct SampleTimes {
    let entity: Entity
    /// Milliseconds since 1970.
    let born: Int64

    private static let hour: Int64 = 3_600_000
    private static let day: Int64 = 24 * hour
    private static let now = SampleGenerator.reference.milliseconds

    /// By field; `values` are the record's other values.
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
            times[changed] = entity.written(changeTime: .string(Timestamp(milliseconds: time).description))
        }
        return times
    }

    /// In chronological order: nothing happens to a record before its creation.
    private func inOrder() -> [Field] {
        let times = entity.fields.filter {
            $0.kind == .time && $0.name != entity.pull?.changedAt && $0.derivation == nil
        }
        let made = times.filter { SampleName($0.name).contains("created", "timestamp", "generated") }
        return made + times.filter { time in !made.contains { $0.name == time.name } }
    }

    /// `completed_at` is set when the record is completed; an optional time is sometimes missing.
    private func isSet(
        _ field: Field, _ name: SampleName, _ values: [String: JSONText], _ random: inout SplitMix64
    ) -> Bool {
        if field.name == entity.pull?.deleted?.name || name.contains("deleted") { return false }
        if let reached = entity.hasReached(name.words.first ?? "", values) { return reached }
        return field.required || name.contains("created") || random.chance(0.75)
    }

    /// Open records are due from now on, others some time after their creation.
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
    /// Whether a record is in a state, by an enum with that value or a boolean of that name; nil when there is no such
    /// state.
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
