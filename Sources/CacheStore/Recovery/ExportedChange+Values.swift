internal import EntitySchema
internal import JSONText
internal import SQLiteStore

/// The values of a change that comes from a file.
extension ExportedChange {
    /// Says why no queue can have the change; nil if one can.
    var problem: String? {
        if texts.contains(where: { $0.utf8.count > Self.longest }) {
            return "a value has more than \(Self.longest >> 20) MiB"
        }
        guard texts.allSatisfy(Self.isComparable) else {
            return "a value has more than \(MarkRun.longestStored) combining marks in a row"
        }
        return isSound ? wrongNumber ?? wrongKey ?? wrongContent ?? wrongJSON : "the change is damaged"
    }

    // MARK: Length

    /// In bytes; sealing makes texts longer.
    private static let longest = Int(ForeignFile.longestValue) / 2

    private var texts: [String] {
        let own = [
            entity, recordKey, body, base, edited, idempotencyKey, orderGroup, errorClass, errorMessage, content,
            contentType,
            record, latest, trace, sent,
        ]
        let others = (conflicts ?? []).flatMap { [$0.field, $0.base, $0.local, $0.server, $0.rule] }
        return (own + others).compactMap(\.self)
    }

    /// False for a text that would take minutes to compare, whether it is JSON or not.
    private static func isComparable(_ text: String) -> Bool {
        MarkRun.areShort(inJSON: Array(text.utf8)[...], upTo: MarkRun.longestStored)
    }

    // MARK: JSON

    /// Says which value is not JSON. Every list of conflicts would fail at one of a conflict.
    private var wrongJSON: String? {
        if let record, !Self.isJSON(record) { return "record is not JSON" }
        if let latest, !Self.isJSON(latest) { return "latest is not JSON" }
        if let sent, !Self.isJSON(sent) { return "sent is not JSON" }
        for conflict in conflicts ?? [] {
            if let name = conflict.wrongValue { return "conflicts.\(name) is not JSON" }
        }
        return nil
    }

    /// Whether the daemon can read it as JSON.
    static func isJSON(_ text: String) -> Bool { (try? JSONText(parsing: text)) != nil }

    // MARK: The idempotency key

    /// Says what is wrong with the key. It is the value of a header: with a control character no attempt could be sent.
    private var wrongKey: String? {
        let isText = idempotencyKey.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isText ? nil : "idempotency_key has a control character"
    }

    // MARK: Content

    /// Says what is wrong with the name or the type of the content. A file is opened by the one, and the other is the
    /// value of a header.
    private var wrongContent: String? {
        if let content, content != ContentTable.nothing, !Content.isName(content) {
            return "content is \(content.start(scalars: 100)), expected 64 hexadecimal digits in lower case"
        }
        if let contentType, !Content.isType(contentType) { return "content_type has a control character" }
        return nil
    }

    // MARK: Numbers

    private typealias Number = (name: String, value: Int64?, range: ClosedRange<Int64>)

    private static let ids: ClosedRange<Int64> = 1...(1 << 53)
    private static let counts: ClosedRange<Int64> = 0...1_000_000_000
    private static let statuses: ClosedRange<Int64> = -1_000_000_000...1_000_000_000
    private static let sizes: ClosedRange<Int64> = 0...(1 << 53)
    /// In milliseconds since 1970. An upstream's times of change can be as far away.
    private static let times: ClosedRange<Int64> = -1_000_000_000_000_000...1_000_000_000_000_000

    /// Says which number no queue can have. A change with one could not be stored after its next attempt.
    private var wrongNumber: String? {
        let all = ownNumbers + (conflicts ?? []).flatMap { Self.numbers(of: $0) } + editTimes
        for number in all {
            guard let value = number.value, !number.range.contains(value) else { continue }
            return "\(number.name) is \(value), expected \(number.range.lowerBound) to \(number.range.upperBound)"
        }
        return nil
    }

    private var ownNumbers: [Number] {
        [
            ("id", id, Self.ids), ("attempt_count", Int64(attemptCount), Self.counts),
            ("tried", Int64(tried), Self.counts), ("created_at", createdAt, Self.times),
            ("last_attempt_at", lastAttemptAt, Self.times), ("first_attempt_at", firstAttemptAt, Self.times),
            ("next_attempt_at", nextAttemptAt, Self.times),
            ("error_status", errorStatus.map { Int64($0) }, Self.statuses), ("known_pk", knownPk, Self.sizes),
            ("content_size", contentSize.map { Int64($0) }, Self.sizes),
        ]
    }

    private static func numbers(of conflict: ExportedConflict) -> [Number] {
        [
            ("conflicts.at", conflict.at, times), ("conflicts.change_id", conflict.changeId, ids),
            ("conflicts.local_at", conflict.localAt, times), ("conflicts.server_at", conflict.serverAt, times),
        ]
    }

    /// When each field was edited. Nothing reads a value that is no integer.
    private var editTimes: [Number] {
        let times = (try? JSONText(parsing: edited ?? "{}"))?.members ?? []
        return times.map { field, time in
            ("edited.\(field.start(scalars: 100))", time.integer.map { Int64($0) }, Self.times)
        }
    }
}
