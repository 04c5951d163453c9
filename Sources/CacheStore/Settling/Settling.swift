internal import EntitySchema
internal import JSONText

/// A record with a change that was acknowledged not long ago. Until the server has caught up everywhere, a view of it may
/// be older than the change.
struct Settling: Equatable {
    enum Kind: String {
        case created, written, deleted
    }

    /// One field that was changed.
    struct Part: Equatable {
        /// What it has now: what was sent, or what the server made of it.
        var ours: JSONText
        /// What it had before, and what it was changed to on the way; of long values only the latest (`keep`).
        var earlier: [JSONText]
        /// No view had shown the field before, so that any other value may be the one before.
        var isBlind = false

        /// Whether it is what the field had earlier.
        func had(_ value: JSONText, of field: String, _ comparison: ValueComparison) -> Bool {
            earlier.contains { comparison.isSame(value, $0, of: field) }
        }

        /// Whether it may be what the field had earlier, or what the server made of that.
        func mayHaveHad(_ value: JSONText, of field: String, _ comparison: ValueComparison) -> Bool {
            isBlind || earlier.contains { comparison.mayBe(value, of: field, from: $0) }
        }

        /// Whether a value is ours with what the server adds to it, such as the ids of an order's lines. Not if the server
        /// showed all of ours before already: then something was taken out, and the value may be older.
        func isFilled(in value: JSONText) -> Bool {
            ours.isFilled(in: value) && !(earlier.last.map(ours.isFilled) ?? false)
        }

        /// Adds a value that the field no longer has.
        mutating func replace(by value: JSONText) {
            earlier.append(ours)
            keep(earlier.suffix(Self.mostEarlier))
            ours = value
        }

        /// Keeps these as the earlier values: all short ones, and the latest long ones, each once, since every view is compared
        /// with all of them.
        mutating func keep(_ values: some BidirectionalCollection<JSONText>) {
            var bytes = 0
            var latest: [JSONText] = []
            for value in values.reversed() {
                let size = value.bytes.count
                if size > Self.short {
                    guard bytes < Self.mostBytes, !latest.contains(value) else { continue }
                    bytes += size
                }
                latest.append(value)
            }
            earlier = latest.reversed()
        }

        private static let mostEarlier = 20
        /// The most bytes of a short value.
        private static let short = 1 << 10
        /// Once the long values have so many bytes, no older one is kept.
        private static let mostBytes = 256 << 10
    }

    var key: String
    var kind: Kind
    /// When the last change was acknowledged.
    var at: Timestamp
    /// The end of the change log at that time.
    var position: Int64
    /// No version with an earlier change time is newer than the change.
    var changedAt: Timestamp?
    /// The acknowledged version itself has that change time, so that a later one is news.
    var isExact = false
    /// The server has shown the change, and nothing older since.
    var isConfirmed = false
    var parts: [String: Part] = [:]

    /// How long its values are.
    var bytes: Int { parts.values.flatMap { [$0.ours] + $0.earlier }.reduce(0) { $0 + $1.bytes.count } }

    /// Whether the server may still be behind. A clock that was set back starts the time again (`SettlingTable`).
    func isAlive(at now: Timestamp, _ settle: Duration) -> Bool { now < at || now.since(at) < settle }

    /// Notes that a field has this value from now on, and had the others before.
    mutating func set(_ field: String, to value: JSONText, from before: [JSONText], _ comparison: ValueComparison) {
        var part = parts[field] ?? Part(ours: value, earlier: [])
        if parts[field] != nil { part.replace(by: value) }
        part.keep((part.earlier + before).filter { !comparison.isSame($0, value, of: field) })
        parts[field] = part
    }

    /// What a view of the record is worth.
    enum Verdict: Equatable {
        /// It is older than the change.
        case stale
        /// It counts, except for what is kept.
        case counts(Kept)
    }

    /// The values that changed fields keep, whatever a view of the record has.
    struct Kept: Equatable {
        /// The view shows an earlier value.
        var shown: [String: JSONText] = [:]
        /// The view does not show the field, and no other view has it: it had no value before, and servers leave out what has
        /// none, so the view may be older than the change.
        var unshown: [String: JSONText] = [:]

        var isEmpty: Bool { shown.isEmpty && unshown.isEmpty }

        /// Sets the values in a record that was put together from all views. A field that another view shows is no longer kept
        /// as `unshown`.
        mutating func lay(over record: inout JSONText, of entity: Entity) {
            unshown = unshown.filter { entity.value(of: $0.key, in: record) == nil }
            for (field, value) in shown.merging(unshown, uniquingKeysWith: { shown, _ in shown }) {
                record = record.setting(field, to: value)
            }
        }
    }

    /// Compares a view with the change, and notes what it shows.
    mutating func meet(_ view: JSONText, _ comparison: ValueComparison) -> Verdict {
        let entity = comparison.meaning.entity
        let time = entity.changeTime(of: view)
        if let time, let changedAt, time < changedAt { return .stale }
        let isNews = isNews(at: time)
        var kept = Kept(unshown: isNews ? [:] : unshown(in: view, of: entity))
        var isWhole = true
        for (field, part) in parts {
            guard let value = entity.value(of: field, in: view) else {
                isWhole = false
                continue
            }
            if comparison.isSame(value, part.ours, of: field) { continue }
            if !isNews, !part.isFilled(in: value), part.mayHaveHad(value, of: field, comparison) {
                kept.shown[field] = part.ours
            } else {
                parts[field]?.replace(by: value)
            }
        }
        if !kept.shown.isEmpty {
            isConfirmed = false
        } else if isWhole {
            isConfirmed = true
            if let time {
                changedAt = time
                isExact = true
            }
        }
        return .counts(kept)
    }

    private func unshown(in view: JSONText, of entity: Entity) -> [String: JSONText] {
        parts.filter { name, part in
            entity.value(of: name, in: view) == nil && !entity.isNothing(part.ours, of: name)
                && part.earlier.contains { entity.isNothing($0, of: name) }
        }.mapValues(\.ours)
    }

    private func isNews(at time: Timestamp?) -> Bool {
        isExact && time.flatMap { time in changedAt.map { time > $0 } } ?? false
    }
}

extension Entity {
    /// Whether the value is none for this field, as many servers write it.
    func isNothing(_ value: JSONText, of name: String) -> Bool {
        self[field: name]?.isNothing(value) ?? (value.kind == .null)
    }
}
