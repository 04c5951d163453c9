internal import EntitySchema
internal import GRDB
internal import JSONText

/// What the records of one page are worth, and what they make of the cached ones.
struct Arrivals {
    let table: EntityTable
    let context: WriteContext
    let view: RecordView
    /// The end of the change log when the page was requested.
    let position: Int64
    /// Members that a record lacks are as they were.
    let isPartial: Bool

    private var rows: SettlingRows
    private let views: ViewTable
    private let hasViews: Bool
    private let isMain: Bool

    init(
        _ table: EntityTable, _ context: WriteContext, _ view: RecordView, position: Int64, isPartial: Bool
    ) throws {
        self.table = table
        self.context = context
        self.position = position
        self.isPartial = isPartial
        let main = ViewMerge.main(of: table.entity)
        // Records without a list of their own have one view besides the answers.
        self.view = table.entity.pull == nil && view != .answer ? main : view
        isMain = self.view == main
        views = ViewTable(entity: table.entity.name, db: context.db)
        hasViews = try views.isUsed()
        rows = try SettlingRows(
            SettlingTable(entity: table.entity.name, db: context.db), now: context.now,
            settle: context.schema.upstream.settle)
        try rows.clean(before: position)
    }

    /// What a record of the page makes of the cached one.
    struct News {
        var remote: JSONText
        /// Fields that no view so far has had.
        var added: [String] = []
    }

    // MARK: Deleted records

    /// Whether the record is one that was deleted here, and that the page only still has. `isOutside` of the window is where an
    /// upstream may leave it.
    mutating func isDeleted(_ shown: JSONText, _ key: String, isOutside: Bool) throws -> Bool {
        guard var row = try rows[key], row.kind == .deleted else { return false }
        if row.position > position { return true }
        guard rows.isAlive(row) || isDoubtful(shown, row) else {
            if !isOutside {
                try DriftTable(table: table, db: context.db, now: context.now).countIgnoredDeletion(of: key)
            }
            try rows.remove(key)
            return false
        }
        guard row.isConfirmed else { return true }
        row.isConfirmed = false
        try rows.save(row)
        return true
    }

    /// Whether a list shows no later version than the one that was deleted, so that the record is read by its key before it
    /// is believed to be there: search indexes can be minutes behind.
    private func isDoubtful(_ shown: JSONText, _ row: Settling) -> Bool {
        guard view == .list, rows.isDoubtful(row), table.entity.recordPath(of: shown) != nil else { return false }
        guard let time = table.entity.changeTime(of: shown), let changedAt = row.changedAt else { return true }
        return time <= changedAt
    }

    /// Whether a tombstone is older than the last change of the record.
    mutating func isStale(tombstone: JSONText, of key: String) throws -> Bool {
        guard var row = try rows[key], row.kind != .deleted, rows.isAlive(row) else { return false }
        if let time = table.entity.changeTime(of: tombstone), let changedAt = row.changedAt { return time < changedAt }
        guard row.kind == .created else { return false }
        row.isConfirmed = false
        try rows.save(row)
        return true
    }

    // MARK: Known records

    /// Notes that the page has the record as the cache has it.
    mutating func confirm(_ key: String) throws {
        if hasViews, isMain { try views.set(nil, of: key) }
        guard var row = try rows[key], !row.isConfirmed, row.position <= position else { return }
        row.isConfirmed = true
        try rows.save(row)
    }

    /// Whether a single record is older than the cached one, which may have come after the request. The record is read
    /// again once the time to settle is over; that answer counts.
    mutating func isLate(_ shown: JSONText, of known: RecordImage) throws -> Bool {
        guard view == .single, table.entity.pull?.deltaToken != nil, let time = table.entity.changeTime(of: shown),
            let changed = known.remote.flatMap(table.entity.changeTime), time.isSurely(before: changed),
            try rows[known.key] == nil
        else { return false }
        try rows.save(
            Settling(key: known.key, kind: .written, at: context.now, position: position, changedAt: changed))
        return true
    }

    /// Has the record read by its key once the time to settle is over, unless another view shows it before.
    mutating func doubt(_ key: String) throws {
        var row = try rows[key] ?? Settling(key: key, kind: .written, at: context.now, position: position)
        row.isConfirmed = false
        try rows.save(row)
    }

    /// What is known of the record after this view of it; nil if nothing changes.
    mutating func news(_ shown: JSONText, of known: RecordImage) throws -> News? {
        var shown = shown
        var kept = Settling.Kept()
        var isSettling = false
        if var row = try rows[known.key] {
            let before = row
            if rows.isAlive(row) { shown = ShortList(entity: table.entity, view: view).completed(shown, by: row) }
            // However late the first view comes, it shows what became of the change.
            try learn(from: shown, &row)
            if row.kind == .created, let created = known.remote { try learnHTML(from: shown, of: created) }
            if rows.isAlive(row) {
                isSettling = true
                let verdict = row.meet(shown, try context.comparison(table.entity))
                if row != before { try rows.save(row) }
                guard case .counts(let values) = verdict else { return nil }
                kept = values
            } else {
                try shownLate(shown, &row, before)
            }
        }
        let members = hasViews ? try views.members(of: known.key) : nil
        guard !kept.isEmpty || !isMain || isPartial || members != nil else {
            return News(remote: shown, added: known.remote == nil ? fields(shownIn: shown) : [])
        }
        shown = spelled(shown, as: known.remote, members)
        let merge = ViewMerge(
            entity: table.entity, view: view, isSettling: isSettling, isPartial: isPartial)
        var result = LastListed(merge, context).result(shown, over: known.remote, members)
        kept.lay(over: &result.record, of: table.entity)
        if !kept.unshown.isEmpty { try doubt(known.key) }
        if result.members != members { try views.set(result.members, of: known.key) }
        guard let before = known.remote else {
            return News(remote: result.record, added: fields(shownIn: result.record))
        }
        guard result.record != before else { return nil }
        return News(remote: result.record, added: merge.added(result, over: before, members))
    }

    /// Of a record that was only here until now, as while its creation waits, all that is shown is there for the first time.
    private func fields(shownIn record: JSONText) -> [String] {
        table.entity.fields.map(\.name).filter { table.entity.value(of: $0, in: record) != nil }
    }

    /// Once the time is over, a view is the truth about what it shows. What a list does not show is still to be read.
    private mutating func shownLate(_ shown: JSONText, _ row: inout Settling, _ before: Settling) throws {
        try countIgnored(shown, row)
        row.parts = row.parts.filter { table.entity.value(of: $0.key, in: shown) == nil }
        if row.isConfirmed || row.parts.isEmpty || view != .list {
            try rows.remove(row.key)
        } else if row != before {
            try rows.save(row)
        }
    }

    /// Counts the fields that have the value from before the change, as if there had been none.
    private func countIgnored(_ shown: JSONText, _ row: Settling) throws {
        guard !row.isConfirmed, row.position <= position, !row.isExact else { return }
        let comparison = try context.comparison(table.entity)
        for (field, part) in row.parts where !part.isBlind {
            guard let value = table.entity.value(of: field, in: shown), !comparison.isSame(value, part.ours, of: field),
                part.mayHaveHad(value, of: field, comparison), !part.isFilled(in: value),
                !table.entity.isNothing(value, of: field) || !table.entity.isNothing(part.ours, of: field)
            else { continue }
            try DriftTable(table: table, db: context.db, now: context.now).countIgnored(field, key: row.key)
        }
    }

    /// Takes what this view shows of a change for the form that the server gives to what was sent, where it can be that:
    /// its answer may have had no record, or only what was sent. Once the server has shown the change, anything but HTML in
    /// place of the text is an edit of others.
    private func learn(from shown: JSONText, _ row: inout Settling) throws {
        let entity = table.entity
        let comparison = try context.comparison(entity)
        for (field, part) in row.parts {
            guard let value = entity.value(of: field, in: shown), !comparison.isSame(value, part.ours, of: field),
                !part.had(value, of: field, comparison),
                !row.isConfirmed || comparison.meaning.isHTML(value, of: part.ours, in: field),
                try context.learn(part.ours, as: value, of: field, entity)
            else { continue }
            row.parts[field]?.ours = value
        }
    }

    /// Learns the same from a new record, of which no earlier values are kept: its answer showed what was sent, and this view
    /// may show it as HTML.
    private func learnHTML(from shown: JSONText, of created: JSONText) throws {
        let entity = table.entity
        let meaning = try context.comparison(entity).meaning
        for field in entity.fields where field.kind == .string {
            guard let text = entity.value(of: field.name, in: created),
                let value = entity.value(of: field.name, in: shown), meaning.isHTML(value, of: text, in: field.name)
            else { continue }
            try context.learn(text, as: value, of: field.name, entity)
        }
    }

    /// The view with the values that are known, where another view has the same in another spelling: a list may say
    /// `false` and the single record `0`. Otherwise each view would undo the other. The list's own spelling counts, and
    /// any view's before that of a value which was only sent. What the server makes of what it is sent is another value.
    private func spelled(_ shown: JSONText, as known: JSONText?, _ members: ViewTable.Members?) -> JSONText {
        guard let known, !isMain else { return shown }
        let comparison = ValueComparison(
            meaning: Meaning(table.entity, forms: [:]), sealer: context.sealers[table.entity.name])
        return shown.members.reduce(shown) { record, member in
            // Each is looked for in all of the record, so the many that are no fields are not.
            guard table.entity[field: member.key] != nil, let value = known[member.key], value != member.value,
                isShownElsewhere(member.key, members), comparison.isSame(member.value, value, of: member.key)
            else { return record }
            return record.setting(member.key, to: value)
        }
    }

    /// Whether a view besides this one has the member. Without a note about views, the list has all of them.
    private func isShownElsewhere(_ member: String, _ members: ViewTable.Members?) -> Bool {
        members?.names.contains { $0.key != view && $0.key != .answer && $0.value.contains(member) } ?? true
    }

    /// Notes which members a new record has, if they do not come from its list.
    func noteInserted(_ shown: JSONText, of key: String) throws {
        guard !isMain else { return }
        let merge = ViewMerge(entity: table.entity, view: view, isSettling: false)
        try views.set([view: merge.names(of: shown)], of: key)
    }
}
