internal import CacheStore
internal import EntitySchema

/// Decides what a pull asks for: the rest of one that was cut off, what changed, or everything.
struct PullStart {
    let plan: PullPlan
    let cursor: PullCursor
    /// Everything is asked for, whatever is known.
    let full: Bool

    var pull: PullInProgress {
        if let pull = cursor.pull, fits(pull) { return pull }
        if full { return PullInProgress(kind: .everything) }
        if plan.isSince, let since = plan.settled(cursor) { return PullInProgress(kind: .changes, since: since) }
        // Only who has gone through the whole list once can know its rest.
        if plan.mode == .newestFirst, cursor.lastFullAt != nil { return PullInProgress(kind: .newest) }
        return PullInProgress(kind: .everything)
    }

    /// A pull of everything that was cut off serves whatever is asked for; the others only their own mode.
    private func fits(_ pull: PullInProgress) -> Bool {
        switch pull.kind {
        case .everything: true
        case .changes: !full && plan.isSince
        case .newest: !full && plan.mode == .newestFirst
        }
    }
}

extension PullPlan {
    /// Up to which change time the cache has everything; nil before the first pull.
    ///
    /// An overlap before the watermark: rows are committed late, and upstreams differ on whether a time includes itself.
    /// Twice what has been seen to come late, since the next may be later; but at most a day.
    func settled(_ cursor: PullCursor) -> String? {
        guard let watermark = cursor.watermark.flatMap(Timestamp.init(iso8601:)) else { return nil }
        let seen = min(Duration.milliseconds(cursor.lateness) * 2, Self.greatestOverlap)
        return (watermark - max(overlap, seen, Self.leastOverlap)).description
    }

    private static let leastOverlap = Duration.seconds(1)
    private static let greatestOverlap = Duration.seconds(86_400)
}
