internal import CacheStore
internal import EntitySchema

/// Decides what a pull asks for: the rest of an interrupted pull, what changed, or everything.
struct PullStart {
    let plan: PullPlan
    let cursor: PullCursor
    /// A full pull is requested.
    let full: Bool
    /// The definition of the entity's window; nil without one.
    var window: String?
    /// The end of what a wider window adds, if the list can be asked for that part alone (`{$until}`).
    var until: String?

    var pull: PullInProgress {
        var pull = begun
        pull.window = window
        return pull
    }

    private var begun: PullInProgress {
        if let pull = cursor.pull, fits(pull) { return pull }
        if full { return PullInProgress(kind: .everything) }
        if let until, plan.isSince ? plan.covered(by: cursor) != nil : cursor.lastFullAt != nil {
            return PullInProgress(kind: .widening, until: until)
        }
        if plan.isSince, let since = plan.covered(by: cursor) { return PullInProgress(kind: .changes, since: since) }
        if plan.deltaToken != nil, let delta = cursor.delta, cursor.lastFullAt != nil {
            return PullInProgress(kind: .delta, delta: delta)
        }
        // Stopping early is safe only after the whole list has been read once.
        if plan.mode == .newestFirst, cursor.lastFullAt != nil { return PullInProgress(kind: .newest) }
        return PullInProgress(kind: .everything)
    }

    /// An interrupted full pull can be resumed for any request; other pulls only in their own mode.
    private func fits(_ pull: PullInProgress) -> Bool {
        guard pull.window == window, pull.list == plan.list(of: pull.kind) else { return false }
        return switch pull.kind {
        case .everything: true
        case .widening: !full && until != nil
        case .changes: !full && until == nil && plan.isSince
        case .delta: !full && plan.deltaToken != nil && pull.delta == cursor.delta
        case .newest: !full && until == nil && plan.mode == .newestFirst
        }
    }
}

extension PullPlan {
    /// Which of two lists a pull of this kind reads; nil if there is only one.
    func list(of kind: PullInProgress.Kind) -> PullInProgress.List? {
        guard changes != nil else { return nil }
        return switch kind {
        case .everything, .widening: .everything
        case .changes, .delta, .newest: .changes
        }
    }

    /// The change time up to which the cache is complete; nil before the first pull.
    ///
    /// An overlap before the watermark: rows are committed late, and upstreams differ on whether a time includes
    /// itself. The overlap is at least twice the greatest lateness seen, since the next row may be later, but at most a
    /// day; and at least what the request's form of a time cuts off, since rows of one minute may come one by one.
    func covered(by cursor: PullCursor) -> String? {
        guard let watermark = cursor.watermark.flatMap(Timestamp.init(iso8601:)) else { return nil }
        let seen = min(Duration.milliseconds(cursor.lateness) * 2, Self.greatestOverlap)
        return (watermark - max(overlap, seen, Self.leastOverlap, sincePrecision)).description
    }

    private static let leastOverlap = Duration.seconds(1)
    private static let greatestOverlap = Duration.seconds(86_400)
}

extension PullCursor {
    /// A watermark that is later than the server's time was set by a record that claims a change time in the future, or while the
    /// server's clock was ahead: what has changed since is unknown, so everything is read again.
    mutating func forgetFuture(after serverNow: Timestamp?) {
        guard let watermark = watermark.flatMap(Timestamp.init(iso8601:)), let serverNow,
            watermark > serverNow + .seconds(300)
        else { return }
        self.watermark = nil
    }
}
