internal import EntitySchema
internal import GRDB
internal import JSONText

/// What is known of a record once a change of it was acknowledged.
///
/// The answer counts like any view of the record: it may be an older version, or a part. Where it shows neither what a
/// field had before nor what was sent, it shows what the server made of that, which is the value from now on.
struct Acknowledgement {
    private let table: EntityTable
    private let context: WriteContext
    private let change: OutboxTable.Entry
    private let comparison: ValueComparison

    init(of change: OutboxTable.Entry, _ table: EntityTable, _ context: WriteContext) throws {
        self.table = table
        self.context = context
        self.change = change
        comparison = try context.comparison(table.entity)
    }

    struct Result {
        /// What the server has.
        var remote: JSONText
        var members: ViewTable.Members?
        /// Whether those are others than before.
        var hasNewMembers: Bool
        /// Still without its position in the change log.
        var settling: Settling
        /// Whether the answer shows the change, and nothing older: then its version is the record's.
        var isCurrent = false
        /// The server has given the record this key.
        var newKey: JSONText?
        /// Fields that no view so far has had.
        var added: [String] = []
        /// `remote` is later than the version with the change and new here, so others may have edited what was sent.
        var isOvertaken = false
        /// As `Merge.ownTime`.
        var ownTime: Timestamp?
    }

    private var entity: Entity { table.entity }
    private var views: ViewTable { ViewTable(entity: entity.name, db: context.db) }

    /// `known` is what the server had before; `answer` and `known` have their secrets sealed. For `appliedAt` see
    /// `PushOutcome.acknowledged`.
    func result(_ answer: JSONText?, _ view: RecordView, known: JSONText?, appliedAt: Timestamp?) throws -> Result {
        let before = try context.settling(of: change.key, entity)
        let isMadeAgain = change.operation == .create && before?.kind == .deleted
        var settling = begun(over: before, known, isMadeAgain: isMadeAgain)
        var isBehind = false
        if let known, let answer, change.operation == .update, isOlder(answer, than: entity.changeTime(of: known)),
            isSaid(answer)
        {
            guard try isFromBefore(known) else { return try overtaken(by: known, settling) }
            isBehind = true
            settling.changedAt = entity.changeTime(of: answer)
        }
        let mayBeOlder = isMadeAgain || change.operation == .update
        let isOld = mayBeOlder && answer.map { isOlder($0, than: settling.changedAt) } ?? false
        let answer = isOld ? nil : current(answer, known, settling, appliedAt: appliedAt)
        let isMerged = isLater(known, than: appliedAt)
        let known = change.operation == .create ? nil : known
        let assumed = assumed(over: known, answer)
        let members = try views.members(of: change.key)
        guard let answer else { return unanswered(assumed, view, known, members, settling) }
        var merged = merged(answer, view, over: assumed, known, members)
        let added = ViewMerge(entity: entity, view: view, isSettling: true).added(merged, over: known, members)
        let isOvertaken = isLater(answer, than: appliedAt)
        if isOvertaken { follow(answer, &settling) }
        let verdict = try isOvertaken ? settling.meet(answer, comparison) : judged(answer, &settling)
        if isBehind { settling.isExact = false }
        var isCurrent = false
        if case .counts(var kept) = verdict {
            kept.lay(over: &merged.record, of: entity)
            isCurrent = kept.isEmpty
        }
        return Result(
            remote: merged.record, members: merged.members, hasNewMembers: merged.members != members,
            settling: settling, isCurrent: isCurrent, newKey: answer[entity.key], added: added,
            isOvertaken: isOvertaken && !isMerged)
    }

    /// The result without an answer that counts: what the server had, with what was sent, is `assumed`.
    private func unanswered(
        _ assumed: JSONText, _ view: RecordView, _ known: JSONText?, _ members: ViewTable.Members?, _ settling: Settling
    ) -> Result {
        let merge = ViewMerge(entity: entity, view: view, isSettling: true)
        let main: ViewTable.Members? = known.map { [ViewMerge.main(of: entity): merge.names(of: $0)] }
        let isNew = known.map { Set(assumed.members.map(\.key)) != Set($0.members.map(\.key)) } ?? true
        let after = members ?? (isNew ? main ?? [:] : nil)
        return Result(remote: assumed, members: after, hasNewMembers: after != members, settling: settling)
    }

    // MARK: Before the answer

    /// The row as it is if the answer says nothing: each field has what was sent.
    private func begun(
        over before: Settling?, _ known: JSONText?, isMadeAgain: Bool
    ) -> Settling {
        let isNew = change.operation == .create || before?.kind == .created
        var settling = Settling(key: change.key, kind: isNew ? .created : .written, at: context.now, position: 0)
        settling.parts = before?.parts ?? [:]
        settling.changedAt = [before?.changedAt, known.flatMap(entity.changeTime)].compactMap(\.self).max()
        // The change time that the deleted record was last seen with is older than the new record.
        if isMadeAgain { settling.changedAt = settling.changedAt.map { $0 + .milliseconds(1) } }
        for (field, sent) in change.body.members where field != entity.key {
            guard change.operation == .update else {
                settling.set(field, to: sent, from: [], comparison)
                continue
            }
            // A page may have brought the change before its answer.
            let shown = known.flatMap { entity.value(of: field, in: $0) }
            let isFirst = settling.parts[field] == nil
            // What the server was last seen to have comes last: of long values the others may not be kept.
            let before = [change.base[field] ?? .null] + change.sent(field) + [shown ?? .null]
            settling.set(field, to: made(of: sent, shown, field) ?? sent, from: before, comparison)
            if isFirst { settling.parts[field]?.isBlind = shown == nil }
        }
        return settling
    }

    /// What the server is known to make of the value that was sent, where a page has shown that before the answer; a list of
    /// changes may not show it again.
    private func made(
        of sent: JSONText, _ shown: JSONText?, _ name: String
    ) -> JSONText? {
        guard let shown, let field = entity[field: name], !field.isStoredSealed,
            field.isSame(sent, shown, under: comparison.meaning.forms[name] ?? [], directed: true)
        else { return .none }
        return shown
    }

    /// The answer, unless it is about another record or shows the version before the change.
    private func current(
        _ answer: JSONText?, _ known: JSONText?, _ settling: Settling, appliedAt: Timestamp?
    ) -> JSONText? {
        guard let answer, !isAnother(answer) else { return nil }
        return isLater(answer, than: appliedAt) || !isBefore(answer, known, settling) ? answer : nil
    }

    private func isOlder(_ answer: JSONText, than changedAt: Timestamp?) -> Bool {
        guard let changedAt, let time = entity.changeTime(of: answer) else { return false }
        return time < changedAt
    }

    /// Whether the answer shows the version before the change: it has that version's change time, and a value that the change
    /// replaced. Where the server shows more of the record than its lists do, other values may be new here all the same.
    private func isBefore(
        _ answer: JSONText, _ known: JSONText?, _ settling: Settling
    ) -> Bool {
        guard change.operation == .update, let time = entity.changeTime(of: answer),
            time == known.flatMap(entity.changeTime)
        else { return false }
        return change.body.members.contains { field, sent in
            guard let value = entity.value(of: field, in: answer), !comparison.isSame(value, sent, of: field) else {
                return false
            }
            return settling.parts[field]?.had(value, of: field, comparison) ?? false
        }
    }

    private func isLater(_ record: JSONText?, than time: Timestamp?) -> Bool {
        guard let time, let changedAt = record.flatMap(entity.changeTime) else { return false }
        return changedAt > time
    }

    /// An edit answered with another key: a rename if the answer has what was sent, otherwise not this record.
    private func isAnother(_ answer: JSONText) -> Bool {
        guard change.operation == .update, let key = answer[entity.key]?.plain, key.exact != change.key.exact else {
            return false
        }
        return !isSaid(answer)
    }

    /// Whether the answer has all that was sent.
    private func isSaid(_ answer: JSONText) -> Bool {
        !change.body.members.isEmpty
            && change.body.members.allSatisfy { field, sent in
                entity.value(of: field, in: answer).map { comparison.isSame($0, sent, of: field) } ?? false
            }
    }

    /// Whether the known version came before the change was first sent, and shows in its fields what it was based on.
    /// An answer that shows the change is then newer, even if its time is earlier: servers' clocks differ, and local
    /// time is set back in autumn. A version that came later may be from someone who has undone the change.
    private func isFromBefore(_ known: JSONText) throws -> Bool {
        guard !isSaid(known), let sentAt = change.firstAttemptAt,
            let syncedAt = try context.row(table).syncedAt(of: change.key), syncedAt <= sentAt
        else { return false }
        return change.body.members.allSatisfy { field, _ in
            let value = entity.value(of: field, in: known) ?? .null
            return comparison.isSame(value, change.base[field] ?? .null, of: field)
        }
    }

    /// The answer has the change, and a pull has brought a later version before it: others have edited the record since.
    private func overtaken(
        by known: JSONText, _ begun: Settling
    ) throws -> Result {
        var settling = begun
        follow(known, &settling)
        return Result(
            remote: known, members: try views.members(of: change.key), hasNewMembers: false, settling: settling)
    }

    /// Takes the values of a version that is later than the change.
    private func follow(_ later: JSONText, _ settling: inout Settling) {
        for field in settling.parts.keys {
            guard let value = entity.value(of: field, in: later) else { continue }
            settling.set(field, to: value, from: [], comparison)
        }
        settling.changedAt = entity.changeTime(of: later)
        settling.isExact = true
    }

    /// The record with what was sent. A new one keeps its defaults until the server shows more of it than its key.
    private func assumed(over known: JSONText?, _ answer: JSONText?) -> JSONText {
        let isShown = answer?.members.contains { $0.key != entity.key && change.body[$0.key] != nil } ?? false
        let beneath = change.operation == .create && !isShown ? change.base : known
        let sent = change.body.members.filter { field, sent in
            let shown = known.flatMap { entity.value(of: field, in: $0) }
            return made(of: sent, shown, field) == nil
        }
        let remote = beneath?.setting(.object(members: sent)) ?? change.body
        guard let content = change.content, content != ContentTable.nothing, let field = entity.content?.state
        else { return remote }
        return remote.setting(field, to: .string(ContentState.uploaded.rawValue))
    }

    // MARK: With the answer

    private func merged(
        _ answer: JSONText, _ view: RecordView, over assumed: JSONText, _ known: JSONText?,
        _ members: ViewTable.Members?
    ) -> ViewMerge.Result {
        let merge = ViewMerge(entity: entity, view: view, isSettling: true)
        let names = merge.names(of: answer)
        // What was sent is part of no view yet.
        guard let known else { return merge.result(answer, over: assumed, members ?? [:]) }
        let knownNames = merge.names(of: known)
        let sent = Set(change.body.members.map(\.key))
        // A list that shows less of the values is not known by the names alone.
        let isUsual =
            members == nil && names == knownNames && sent.isSubset(of: names) && !entity.isReadByKey
        if isUsual { return ViewMerge.Result(record: answer, members: nil) }
        return merge.result(answer, over: assumed, members ?? [ViewMerge.main(of: entity): knownNames])
    }

    /// Notes what the answer shows of the changed fields. A field that it shows with an earlier value keeps ours.
    private func judged(
        _ answer: JSONText, _ settling: inout Settling
    ) throws -> Settling.Verdict {
        let parts = settling.parts
        let shown = change.body.members.compactMap { field, sent in
            let value = field == entity.key ? nil : entity.value(of: field, in: answer)
            return value.flatMap { value in parts[field].map { (field: field, sent: sent, value: value, part: $0) } }
        }.filter { !$0.part.had($0.value, of: $0.field, comparison) }
        // A value that may be older counts where another one shows that the answer is not.
        let isNew = shown.contains { !$0.part.mayHaveHad($0.value, of: $0.field, comparison) }
        for (field, sent, value, _) in shown {
            // The server's spelling, or its normal form, of what was sent.
            guard try context.learn(sent, as: value, of: field, entity) || isNew else { continue }
            settling.parts[field]?.ours = value
            settling.parts[field]?.isBlind = false
        }
        let verdict = settling.meet(answer, try context.comparison(entity))
        // A new record has no earlier values that an older view could show. What the answer does not show is kept until a
        // view does.
        if settling.kind == .created, change.operation == .create, verdict != .stale {
            settling.parts = settling.parts.filter { entity.value(of: $0.key, in: answer) == nil }
        }
        return verdict
    }
}
