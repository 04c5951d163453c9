package import JSONText

/// What servers may have made of a value in ways that are never enough to take both for the same. Only for asking whether a
/// record may be the one that was sent.
extension Field {
    /// Whether a value is in a form that does not say what was sent: of another type than the field, such as an object in place
    /// of a text, `$12.50` in place of a number or `yes` in place of a boolean; a key at the end of an address; a number in
    /// another unit; or a whole number with fewer digits than were sent, as 64 bits of floating point hold it. Null and an empty
    /// text are values.
    package func isUnreadable(_ value: JSONText, like sent: JSONText) -> Bool {
        guard !isNothing(value), !isNothing(sent) else { return false }
        switch kind {
        case .integer where Double(value.plain) == Double(sent.plain): return true
        case .integer, .number, .money:
            guard let theirs = value.amount else { return true }
            return sent.amount.map(theirs.isOtherUnit) ?? false
        case .boolean: return value.truth == nil
        case .time, .date: return instant(value) == nil
        case .string: return !value.isName
        case .enum: return value.kind != sent.kind
        case .reference: return !value.isName || value.plain.hasSuffix("/" + sent.plain)
        case .list: return value.kind != .array
        case .object: return value.kind != .object
        }
    }

    /// Whether a server that rounds times to some minutes, or reads them by another clock, may have made `answer` of a time or a
    /// day.
    package func mayHaveMoved(_ sent: JSONText, to answer: JSONText) -> Bool {
        guard kind == .time || kind == .date, let mine = instant(sent), let theirs = instant(answer) else {
            return false
        }
        let (minute, hour): (Int64, Int64) = (60_000, 3_600_000)
        let distance = abs(mine - theirs)
        guard kind == .time else { return distance <= 24 * hour }
        // A server that reads another clock may also leave out the seconds, or parts of them.
        let unit = theirs % minute == 0 ? minute : theirs % 1000 == 0 ? 1000 : 1
        // Clocks with half an hour or a quarter are over two hours from UTC, as Newfoundland's in summer, and none is over
        // 14 hours from it.
        let step = distance < 2 * hour ? hour : hour / 4
        if min(distance % step, step - distance % step) < unit { return distance < 14 * hour + unit }
        return [5, 6, 10, 15, 30].contains { theirs % ($0 * minute) == 0 && distance < $0 * minute }
    }

    /// In milliseconds; nil for what is no time and no day.
    private func instant(_ value: JSONText) -> Int64? {
        meant(value).string.flatMap(Timestamp.init(iso8601:))?.milliseconds
    }
}
