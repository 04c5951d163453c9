internal import EntitySchema

/// Which records and entities signals have named and that are to be read, each once however often it is named.
///
/// What was named during a read is read again: the answer may have been older. Between two reads of one record, or two
/// pulls of one entity, there is a gap, which grows while signals go on. All times are monotonic.
struct SignalQueue: Sendable {
    /// How often an entity may be pulled because of signals, and how many of its records make it a pull.
    struct Limits: Sendable, Equatable {
        /// More records than this become one pull of the entity.
        var records = 20
        var longestGap = Duration.seconds(15)
    }

    private struct Entry {
        /// When it is to be read, and the number of the first signal that asks for it; nil if it is not.
        var wanted: (due: Timestamp, since: Int)?
        /// The number of the first signal that asked for the reading in progress; nil if there is none.
        var readSince: Int?
        /// When the last read began.
        var began: Timestamp?
        var gap = SignalQueue.shortestGap

        var isUnderWay: Bool { readSince != nil }
        var next: Timestamp? { began.map { $0 + gap } }
    }

    private static let shortestGap = Duration.milliseconds(500)
    private static let longestGapOfRecord = Duration.seconds(1)
    /// Entries that are kept for their gaps only.
    private static let mostKept = 500

    private let limits: [String: Limits]
    /// By record, or by entity where the key is nil.
    private var entries: [Signal: Entry] = [:]
    /// How many records of an entity wait.
    private var waiting: [String: Int] = [:]
    /// Entities with too many named records: a pull brings all of them.
    private var overflowing: Set<String> = []

    init(limits: [String: Limits]) {
        self.limits = limits
    }

    private func limits(of entity: String) -> Limits { limits[entity] ?? Limits() }

    /// The number of the last signal.
    private(set) var newest = 0

    /// Whether everything that signals up to this number have named was read.
    func hasRead(through number: Int) -> Bool {
        entries.values.allSatisfy { min($0.wanted?.since ?? .max, $0.readSince ?? .max) > number }
    }

    /// Everything that is remembered.
    var count: Int { entries.count }

    /// Reads that have begun and not ended.
    private(set) var underWay = 0

    /// Returns false if the signal adds nothing to what is to be read.
    mutating func add(_ signal: Signal, at now: Timestamp) -> Bool {
        newest += 1
        return add(signal, since: newest, at: now)
    }

    private mutating func add(_ signal: Signal, since number: Int, at now: Timestamp) -> Bool {
        if signal.key != nil {
            guard !overflowing.contains(signal.entity) else { return false }
            let isNew = entries[signal]?.wanted == nil
            if isNew, waiting[signal.entity, default: 0] >= limits(of: signal.entity).records {
                return overflow(signal.entity, since: number, at: now)
            }
        }
        var entry = entries[signal] ?? Entry()
        if let wanted = entry.wanted {
            entries[signal]?.wanted?.since = min(wanted.since, number)
            return false
        }
        entry.wanted = (entry.next.map { max($0, now) } ?? now, number)
        entries[signal] = entry
        if signal.key != nil { waiting[signal.entity, default: 0] += 1 }
        if entries.count > Self.mostKept { forgetQuiet(at: now) }
        return true
    }

    private mutating func overflow(_ entity: String, since number: Int, at now: Timestamp) -> Bool {
        var first = number
        for signal in entries.keys where signal.entity == entity && signal.key != nil {
            first = min(first, entries[signal]?.wanted?.since ?? .max)
            entries[signal]?.wanted = nil
        }
        waiting[entity] = 0
        let isNew = add(Signal(entity: entity), since: first, at: now)
        overflowing.insert(entity)
        return isNew
    }

    /// What is to be read now, the longest due first; it then counts as begun. Nil if there is nothing.
    mutating func next(at now: Timestamp) -> Signal? {
        var first: (signal: Signal, due: Timestamp)?
        for (signal, entry) in entries where !entry.isUnderWay {
            guard let due = entry.wanted?.due, due <= now, first.map({ due < $0.due }) ?? true else { continue }
            first = (signal, due)
        }
        guard let signal = first?.signal, var entry = entries[signal] else { return nil }
        let isBusy = entry.began.map { now.since($0) < entry.gap * 2 } ?? false
        let longest = signal.key == nil ? limits(of: signal.entity).longestGap : Self.longestGapOfRecord
        entry.gap = isBusy ? min(entry.gap * 2, longest) : Self.shortestGap
        entry.began = now
        (entry.readSince, entry.wanted) = (entry.wanted?.since, nil)
        entries[signal] = entry
        underWay += 1
        if signal.key == nil { overflowing.remove(signal.entity) } else { waiting[signal.entity]? -= 1 }
        return signal
    }

    mutating func end(_ signal: Signal) {
        guard entries[signal]?.isUnderWay == true else { return }
        entries[signal]?.readSince = nil
        underWay -= 1
    }

    /// Until something is to be read; nil if nothing is.
    func wait(at now: Timestamp) -> Duration? {
        let due = entries.values.lazy.filter { !$0.isUnderWay }.compactMap { $0.wanted?.due }.min()
        return due.map { max($0.since(now), .zero) }
    }

    /// Empties the queue: the entities of everything that was to be read.
    mutating func drain() -> Set<String> {
        let entities = Set(entries.filter { $0.value.wanted != nil }.keys.map(\.entity))
        for signal in entries.keys { entries[signal]?.wanted = nil }
        waiting = [:]
        overflowing = []
        return entities
    }

    private mutating func forgetQuiet(at now: Timestamp) {
        entries = entries.filter { _, entry in
            entry.isUnderWay || entry.wanted != nil || entry.began.map { now.since($0) < entry.gap * 2 } ?? false
        }
    }
}
