import ReferenceUpstream

/// How the upstream says what has changed and what is gone, apart from change times and marks in lists.
struct Feeds: Sendable {
    /// How changed customers are asked for.
    enum Changes: CaseIterable {
        case times, token, link
    }

    /// How the upstream says which orders are gone: by marks in their own list, or by a list of deletions that is asked
    /// for by time, read whole, or by token and without times.
    enum Deletions: CaseIterable {
        case marks, dated, whole, undated
    }

    enum Signals: CaseIterable {
        case none, stream, events, webhook
    }

    var changes = Changes.times
    var deletions = Deletions.marks
    var signals = Signals.none
    /// Milliseconds until answers to tokens, and lists of deletions, show what happened.
    var changesLag = 0
    var deletionsLag = 0
    /// The most milliseconds until a signal is sent.
    var signalsLag = 0
    /// The share of requests whose token, or position in the list of events, is no longer known.
    var expiry = 0.0
    /// What answers these.
    var expiredStatus = 410
    /// Seconds after which a deletion leaves the list; nil for never.
    var retention: Int?
    /// Nothing tells of a deletion that happened too long ago.
    var forgetsDeletions: Bool { deletions != .marks && retention != nil }
    /// The share of requests for deletions that fail.
    var failures = 0.0
    /// The shares of signals that are never sent, sent twice, and followed by one of an entity that no one knows.
    var losses = 0.0
    var repeats = 0.0
    var strangers = 0.0

    init() {}

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x6665_6564_7300)
        if random.chance(0.5) { changes = random.pick(Changes.allCases) }
        if random.chance(0.6) { deletions = random.pick(Deletions.allCases) }
        if random.chance(0.5) { signals = random.pick(Signals.allCases) }
        changesLag = random.pick([0, 0, 500, 5_000, 20_000])
        deletionsLag = random.pick([0, 0, 500, 5_000, 20_000])
        signalsLag = random.pick([0, 50, 1_000, 10_000])
        expiry = random.pick([0, 0.05, 0.3])
        expiredStatus = random.pick([400, 404, 409, 410])
        retention = random.pick([nil, nil, 120, 600])
        failures = random.pick([0, 0, 0.3])
        losses = random.pick([0, 0.1, 0.5])
        repeats = random.pick([0, 0.3])
        strangers = random.pick([0, 0.2])
    }

    // MARK: In the schema

    static let deletionsPath = "/orders-deleted"
    static let eventsPath = "/events"

    /// `pull.since` of the customers; nil where they are asked for by time.
    var since: String? {
        let expired = expiredStatus == 409 ? ", expired: 409" : ""
        return switch changes {
        case .times: nil
        case .token: "since: { token: delta, param: delta, field: updated_at\(expired) }"
        case .link: "since: { link: delta, field: updated_at\(expired) }"
        }
    }

    /// `pull.deleted` of the orders.
    func deleted(overlap: Int) -> String {
        let list = "path: \(Self.deletionsPath), key: id"
        return switch deletions {
        case .marks: "deleted: deleted"
        case .dated: "deleted: { \(list), at: at, since: { param: after, overlap: \(overlap)s } }"
        case .whole: "deleted: { \(list), at: at }"
        case .undated: "deleted: { \(list), since: { token: delta, param: delta } }"
        }
    }

    /// `upstream.signals`.
    var sources: String {
        let reading = "entity: { at: kind }, key: id"
        return switch signals {
        case .none: ""
        case .stream: "signals: [{ sse: { path: /stream, \(reading) } }]"
        case .events:
            "signals: [{ events: { path: \(Self.eventsPath), records: data, "
                + "since: { param: after, next: { last: seq } }, every: 2s, \(reading) } }]"
        case .webhook:
            "signals: [{ webhook: { path: /hook, signature: { header: X-Token, algorithm: token }, \(reading) } }]"
        }
    }
}
