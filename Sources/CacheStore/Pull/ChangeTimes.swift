package import EntitySchema
internal import JSONText
internal import SchemaDrift

/// The latest change time of a page, and that of its last record.
///
/// Times in the usual notation and of one length compare as bytes, so only a few are read.
struct ChangeTimes {
    /// A later time is not believed: a pull that continued from it would miss every change until then.
    private let latestPlausible: String
    private let doubtful: [UInt8]
    /// How far ahead of UTC times without zone are.
    private let clock: Duration
    /// Of those that are not compared as bytes, the last one: records that changed together share it.
    private var lastUnusual: JSONText?
    private var greatest: [Int: JSONText] = [:]
    private var last: JSONText?
    private var earliest: JSONText?
    private(set) var latest: String?
    /// A record is later than one before it: the page is not by change time, newest first.
    private(set) var rises = false

    /// Some servers sort by a time a little other than the one that they show. What is out of order by less than the overlap of
    /// pulls hides no change.
    private static let disorder = Duration.seconds(60)

    /// That of the last record that has one.
    var ending: String? { last.map(text) }

    /// `serverNow`: no change can be later.
    init(upTo serverNow: Timestamp, clock: Duration = .zero) {
        self.clock = clock
        latestPlausible = serverNow.description
        doubtful = Array(latestPlausible.utf8.prefix(19))
    }

    mutating func insert(_ time: JSONText) {
        guard time.kind != .null else { return }
        if !rises { note(time) }
        last = time
        guard time != lastUnusual else { return }
        guard isUsual(time) else {
            lastUnusual = time
            return include(text(time))
        }
        guard let known = greatest[time.bytes.count] else { return greatest[time.bytes.count] = time }
        if known.bytes.lexicographicallyPrecedes(time.bytes) { greatest[time.bytes.count] = time }
    }

    /// Call this after the last time.
    mutating func finish() {
        for time in greatest.values { include(text(time)) }
    }

    /// Notes whether the page rises. Few times are parsed for this: on a falling page the texts fall too, and on a rising one
    /// it soon ends.
    private mutating func note(_ time: JSONText) {
        guard let before = earliest,
            time.bytes.count != before.bytes.count || before.bytes.lexicographicallyPrecedes(time.bytes),
            let known = before.changeTime(clock: clock), let read = time.changeTime(clock: clock)
        else { return earliest = time }
        rises = read.since(known) > Self.disorder
        if read < known { earliest = time }
    }

    private func isUsual(_ time: JSONText) -> Bool {
        guard time.kind == .string, clock == .zero else { return false }
        let inner = time.bytes.dropFirst().dropLast()
        return inner.withUnsafeBufferPointer { TimeText.isUsual($0, 0..<$0.count) }
            && inner.prefix(doubtful.count).lexicographicallyPrecedes(doubtful)
    }

    private mutating func include(_ time: String) {
        if time <= latestPlausible { latest = max(latest ?? time, time) }
    }

    /// A time as UTC with milliseconds, as text that sorts by time; anything else as it is.
    private func text(_ time: JSONText) -> String { time.changeTime(clock: clock)?.description ?? time.plain }
}

extension Timestamp {
    /// Whether it is earlier even if it was cut to whole seconds and the other was not.
    package func isSurely(before other: Timestamp) -> Bool {
        let isWhole = milliseconds % 1000 == 0
        return milliseconds < other.milliseconds - (isWhole ? other.milliseconds % 1000 : 0)
    }
}
