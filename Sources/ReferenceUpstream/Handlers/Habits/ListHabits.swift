internal import EntitySchema
internal import JSONText

/// What habits make of one page of a list: which rows it has, and what it says about the others.
struct ListHabits {
    let store: Store
    let entity: Entity
    let now: Timestamp

    private var habits: Habits { store.habits }

    // MARK: Before the rows are selected

    func changed(_ window: ListWindow, isWhole: Bool) -> ListWindow {
        guard !habits.isEmpty else { return window }
        var window = window
        if window.order.isOfChanges {
            window.deletedBefore = habits.time(.laggingTombstones).map { now - $0 }
        } else if let limit = limit(window) {
            window.size = limit
        }
        if case .skipping(let count) = window.start, count > 0, store.state.chance(of: .slidingRows) {
            store.note(.slidingRows)
            window.start = .skipping(count + (store.state.tally.draw { $0.chance(0.5) } ? 1 : -1))
        }
        guard isDoubling(window, isWhole), case .skipping(let count) = window.start else { return window }
        if count > 0 { window.start = .skipping(count - 1) } else { window.size = max(1, window.size - 1) }
        return window
    }

    /// The size of a page that may not go beyond the end of a list that is cut off; nil when it does not.
    private func limit(_ window: ListWindow) -> Int? {
        guard let limit = habits.count(.cutLists), case .skipping(let count) = window.start else { return nil }
        return max(0, min(window.size, limit - count))
    }

    // MARK: After

    /// `asked` is the window before `changed`.
    func changed(_ found: Table.Selection, _ asked: ListWindow, isWhole: Bool) -> Table.Selection {
        guard !habits.isEmpty || store.settings.shape != nil else { return found }
        guard !store.state.emptiesLists else { return Table.Selection(rows: [], total: 0) }
        var found = found
        double(&found, asked, isWhole)
        cut(&found, asked)
        if let off = habits.count(.wrongTotals), off != 0 {
            store.note(.wrongTotals)
            found.total = max(0, found.total + off)
        }
        let views = RecordViews(store: store, entity: entity)
        found.rows = found.rows.map(views.listed)
        return found
    }

    /// Counts a page that hides deletions: `all` selects it without hiding any.
    func noteTombstones(_ found: Table.Selection, _ all: () -> Table.Selection) {
        guard habits[.laggingTombstones], all().total > found.total else { return }
        store.note(.laggingTombstones)
    }

    /// The first record of all is listed twice, at the beginning of whole lists.
    private func double(_ found: inout Table.Selection, _ asked: ListWindow, _ isWhole: Bool) {
        guard isDoubling(asked, isWhole), case .skipping(let count) = asked.start, let first = found.rows.first else {
            return
        }
        found.total += 1
        guard count == 0, asked.size > 1 else { return }
        store.note(.listedTwice)
        found.rows.insert(first, at: 1)
    }

    private func isDoubling(_ window: ListWindow, _ isWhole: Bool) -> Bool {
        habits[.listedTwice] && isWhole && window.order == .arrival
    }

    private func cut(_ found: inout Table.Selection, _ asked: ListWindow) {
        guard let limit = habits.count(.cutLists), found.total > limit else { return }
        if asked.order.isOfChanges { return }
        store.note(.cutLists)
        found.total = limit
        if case .skipping(let count) = asked.start, count + asked.size < limit { return }
        found.next = nil
    }

    // MARK: Numbers that are none

    /// Writes `NaN` for a number of the first record that has one.
    func broken(_ rows: [JSONText]) -> [JSONText] {
        guard habits[.notANumber], let (key, field) = victim else { return rows }
        return rows.map { row in
            guard row[entity.key]?.plain == key, row[field] != nil else { return row }
            store.note(.notANumber)
            return row.setting(field, to: JSONText(validated: Array("NaN".utf8)))
        }
    }

    private var victim: (key: String, field: String)? {
        for record in store.records(of: entity.name) ?? [] {
            let field = entity.fields.first { field in
                [.number, .money, .integer].contains(field.kind) && field.name != entity.key
                    && record[field.name]?.kind == .number
            }
            if let field, let key = record[entity.key]?.plain { return (key, field.name) }
        }
        return nil
    }
}
