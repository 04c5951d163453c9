package import EntitySchema
internal import JSONText
internal import SchemaDrift

/// The earliest and the latest change time of a page.
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
    private var times: [Int: (least: JSONText, greatest: JSONText)] = [:]
    private(set) var earliest: String?
    private(set) var latest: String?

    /// `serverNow`: no change can be later.
    init(upTo serverNow: Timestamp, clock: Duration = .zero) {
        self.clock = clock
        latestPlausible = serverNow.description
        doubtful = Array(latestPlausible.utf8.prefix(19))
    }

    mutating func insert(_ time: JSONText) {
        guard time.kind != .null, time != lastUnusual else { return }
        guard isUsual(time) else {
            lastUnusual = time
            return include(text(time))
        }
        guard let known = times[time.bytes.count] else { return times[time.bytes.count] = (time, time) }
        if time.bytes.lexicographicallyPrecedes(known.least.bytes) { times[time.bytes.count]?.least = time }
        if known.greatest.bytes.lexicographicallyPrecedes(time.bytes) { times[time.bytes.count]?.greatest = time }
    }

    /// Call this after the last time.
    mutating func finish() {
        for (least, greatest) in times.values {
            include(text(least))
            include(text(greatest))
        }
    }

    private func isUsual(_ time: JSONText) -> Bool {
        guard time.kind == .string, clock == .zero else { return false }
        let inner = time.bytes.dropFirst().dropLast()
        return inner.withUnsafeBufferPointer { TimeText.isUsual($0, 0..<$0.count) }
            && inner.prefix(doubtful.count).lexicographicallyPrecedes(doubtful)
    }

    private mutating func include(_ time: String) {
        earliest = min(earliest ?? time, time)
        if time <= latestPlausible { latest = max(latest ?? time, time) }
    }

    /// A time as UTC with milliseconds, as text that sorts by time; anything else as it is.
    private func text(_ time: JSONText) -> String {
        time.changeTime(clock: clock)?.description ?? time.plain
    }
}

extension Timestamp {
    /// Whether it is earlier even if it was cut to whole seconds and the other was not.
    package func isSurely(before other: Timestamp) -> Bool {
        let isWhole = milliseconds % 1000 == 0
        return milliseconds < other.milliseconds - (isWhole ? other.milliseconds % 1000 : 0)
    }
}
