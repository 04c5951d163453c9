internal import CacheStore
internal import EntitySchema
internal import JSONText

/// What a listed record's change time says, compared with the attempts of the creation.
extension CreationSearch {
    /// Whether the record may have been there before the first attempt, unknown to the cache.
    ///
    /// A look-up by a path of its own may show what the pulled list leaves out, such as what is archived. As change times may
    /// be days, or the same for many records, only one from more than a day before the attempt says so.
    ///
    /// With a window, the change time decides. If there is none, or only the day of the attempt, a record outside of the window
    /// may have been there, and one inside counts as new.
    func wasUnseenEarlier(_ record: JSONText) throws -> Bool {
        guard !entity.isKey(change.key, of: record) else { return false }
        let isLongSince = isEarlier(record, by: .seconds(86_400)) == true
        if request.path != entity.pull?.path, isLongSince { return true }
        guard entity.pull?.window != nil else { return false }
        if let isEarlier = isEarlier(record), isLongSince || !isEarlier || !hasDayAlone(record) { return isEarlier }
        let window = try store.window(of: entity, at: environment.upstreamTime)
        return window.map { !$0.holds(for: record, of: entity) } ?? true
    }

    /// Whether the upstream deleted the record before the first attempt, so that it is another one. Nil if it is marked
    /// as deleted and the time is unknown. A record with the key made here is the change's own; so is any if the
    /// creation itself has the mark.
    func wasDeletedEarlier(_ record: JSONText) -> Bool? {
        guard entity.isDeleted(record), !entity.isDeleted(change.body), !entity.isKey(change.key, of: record)
        else { return false }
        return isEarlier(record)
    }

    /// Whether the record was last changed before the first attempt. Some upstreams write only the minute or the day.
    func isOlder(_ record: JSONText) -> Bool {
        isEarlier(record, by: .seconds(60)) == true && !hasDayAlone(record)
    }

    /// Whether the server changed the record after the attempt. A time in the future says nothing.
    func isNewer(_ record: JSONText) -> Bool {
        guard let clockOffset = reconciler.clockOffset, let attempt = change.lastAttemptAt,
            let time = entity.changeTime(of: record)
        else { return false }
        return time > attempt + clockOffset + Self.tolerance && time <= now + clockOffset + Self.tolerance
    }

    /// Whether the record was last changed more than `span` before the first attempt. Nil if that is unknown.
    private func isEarlier(_ record: JSONText, by span: Duration = .zero) -> Bool? {
        guard let clockOffset = reconciler.clockOffset, let first = change.firstAttemptAt ?? change.lastAttemptAt,
            let time = entity.changeTime(of: record)
        else { return nil }
        return time < first + clockOffset - Self.tolerance - span
    }

    /// Whether the record's change time is that of a day, such as `2026-01-31`: midnight, however it is written.
    private func hasDayAlone(_ record: JSONText) -> Bool {
        entity.changeTime(of: record).map { $0.milliseconds.isMultiple(of: 86_400_000) } ?? false
    }

    /// Clocks are measured to the second, and change times may have whole seconds.
    private static let tolerance = Duration.seconds(2)
}
