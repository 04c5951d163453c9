package import SyncEngine

/// The counters and histograms of `/metrics`. Its other values are read from cache and engine on each request.
///
/// Every label has a small fixed set of values, whatever callers send.
package struct Metrics: Sendable {
    struct Request: Hashable, Comparable, Sendable {
        var route: String
        var method: String
        /// `2xx`.
        var status: String

        static func < (one: Request, other: Request) -> Bool {
            (one.route, one.method, one.status) < (other.route, other.method, other.status)
        }
    }

    struct Work: Hashable, Comparable, Sendable {
        var entity: String
        var outcome: String

        static func < (one: Work, other: Work) -> Bool { (one.entity, one.outcome) < (other.entity, other.outcome) }
    }

    struct Signal: Hashable, Comparable, Sendable {
        var source: String
        var outcome: String

        static func < (one: Signal, other: Signal) -> Bool { (one.source, one.outcome) < (other.source, other.outcome) }
    }

    let requests = LabelledSeries<Request, Histogram> { Histogram(bounds: Histogram.quick) }
    let pushes = LabelledSeries<Work, Histogram> { Histogram(bounds: Histogram.slow) }
    let pulls = LabelledSeries<Work, Histogram> { Histogram(bounds: Histogram.slow) }
    let written = LabelledSeries<String, Tally> { Tally() }
    let deleted = LabelledSeries<String, Tally> { Tally() }
    let signals = LabelledSeries<Signal, Tally> { Tally() }
    let retries = Tally()
    /// Refused callers, by reason.
    let refused = LabelledSeries<String, Tally> { Tally() }
    /// Time since a fixed moment, by a monotonic clock.
    let uptime: @Sendable () -> Duration

    package init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
    }

    func record(route: String, method: String, status: Int, duration: Duration) {
        let labels = Request(route: route, method: Self.label(ofMethod: method), status: Self.label(ofStatus: status))
        requests[labels].record(duration)
    }

    private static func label(ofMethod method: String) -> String {
        switch method {
        case "GET", "HEAD", "PATCH", "POST", "PUT", "DELETE", "OPTIONS": method
        default: "other"
        }
    }

    /// Most texts are written here, because making one takes longer than finding the series.
    private static func label(ofStatus status: Int) -> String {
        switch status / 100 {
        case 2: "2xx"
        case 3: "3xx"
        case 4: "4xx"
        case let kind: "\(kind)xx"
        }
    }

    /// For the engine.
    package func record(_ measurement: SyncMeasurement) {
        switch measurement {
        case .push(let entity, let outcome, let duration):
            if outcome == .retry { retries.add(1) }
            pushes[Work(entity: entity, outcome: outcome.rawValue)].record(duration)
        case .pull(let entity, let outcome, let duration):
            pulls[Work(entity: entity, outcome: outcome.rawValue)].record(duration)
        case .pulled(let entity, let written, let deleted):
            self.written[entity].add(written)
            self.deleted[entity].add(deleted)
        case .signal(let source, let outcome):
            signals[Signal(source: source, outcome: outcome.rawValue)].add(1)
        case .sync, .reachability:
            // The pulls are timed one by one, and whether the upstream is up is read from the status.
            break
        }
    }
}
