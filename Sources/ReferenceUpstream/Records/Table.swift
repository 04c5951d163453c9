internal import EntitySchema
internal import JSONText

/// The records of one entity, each kept as its original text.
///
/// Serves pages from ordered arrays, so a page costs its own size, not the table's. The change order and the filters,
/// which only some requests need, are built on first use and updated from then on.
struct Table: Sendable {
    struct Slot {
        enum State { case live, deleted, replaced }

        var key: String
        /// The record, or the entry for a deleted one in lists of changes.
        var text: JSONText
        var state: State
        /// Its change time in milliseconds; nil when the record has none.
        var changed: Int64?
        /// The number of the change that made it what it is.
        var version: Int

        func mark(at position: Int) -> ListMark { ListMark(changed: changed, key: key, position: position) }
    }

    /// An entry of the list of deletions.
    struct Deletion: Sendable {
        var key: JSONText
        var at: Timestamp
        var version: Int
    }

    let entity: Entity
    /// The number of the last change.
    private(set) var version: Int
    /// Oldest first; only if the schema has a list of them.
    private(set) var deletions: [Deletion] = []
    private(set) var slots: [Slot] = []
    private var positions: [String: Int] = [:]
    /// The positions of live records; nil when they must be rebuilt.
    private var live: [Int]?
    private var changes: ChangeOrder?
    /// For each field used in a filter: the positions of the live records with each value.
    private var filters: [String: [String: [Int]]] = [:]

    /// The keys of records that were changed since they were last taken; only noted if signals are sent.
    var touched: [JSONText] = []
    var isWatched = false

    private mutating func touch(_ record: JSONText, _ key: String) {
        if isWatched { touched.append(record[entity.key] ?? .string(key)) }
    }

    /// Records without a usable key are kept too; they appear only in lists.
    /// `version`: the last one of another table that this one replaces.
    init(entity: Entity, records: [JSONText], after version: Int = 0) {
        self.entity = entity
        self.version = version + records.count
        slots.reserveCapacity(records.count)
        positions.reserveCapacity(records.count)
        for (position, record) in records.enumerated() {
            let key = record[entity.key]?.plain ?? ""
            slots.append(Slot(key: key, text: record, state: .live, changed: nil, version: version + position + 1))
            if !key.isEmpty { positions[key] = position }
        }
    }

    /// The live record with this key.
    subscript(key: String) -> JSONText? {
        guard let position = positions[key], slots[position].state == .live else { return nil }
        return slots[position].text
    }

    /// Every live record, in the order of arrival.
    var records: [JSONText] { slots.lazy.filter { $0.state == .live }.map(\.text) }

    // MARK: Changing

    /// Replaces the record with this key, or adds it at the end.
    mutating func put(_ record: JSONText, key: String) {
        touch(record, key)
        version += 1
        guard let position = positions[key], slots[position].state == .live else {
            if let dead = positions[key] {
                changes?.remove(dead, slots: slots)
                slots[dead].state = .replaced
            }
            return append(record, key: key)
        }
        changes?.remove(position, slots: slots)
        refilter(position, from: slots[position].text, to: record)
        slots[position].text = record
        slots[position].changed = changeTime(of: record)
        slots[position].version = version
        changes?.insert(position, slots: slots)
    }

    private mutating func append(_ record: JSONText, key: String) {
        let position = slots.count
        slots.append(
            Slot(key: key, text: record, state: .live, changed: changeTime(of: record), version: version))
        positions[key] = position
        live?.append(position)
        refilter(position, from: nil, to: record)
        changes?.insert(position, slots: slots)
    }

    /// Deletes the record with this key; lists of changes then show the deletion, if the schema has a mark for it.
    mutating func remove(key: String, at time: Timestamp) {
        guard let position = positions[key], slots[position].state == .live else { return }
        touch(slots[position].text, key)
        changes?.remove(position, slots: slots)
        refilter(position, from: slots[position].text, to: nil)
        live = nil
        let identity = slots[position].text[entity.key] ?? .string(key)
        version += 1
        if entity.tombstones != nil { deletions.append(Deletion(key: identity, at: time, version: version)) }
        guard let mark = entity.pull?.deleted else {
            slots[position].state = .replaced
            positions[key] = nil
            return
        }
        let value = mark.values?.first.map { entity.value($0, for: mark.name) } ?? .string(time.description)
        slots[position].text = .object(members: [(entity.key, identity), (mark.name, value)])
        slots[position].state = .deleted
        slots[position].version = version
        slots[position].changed = time.milliseconds
        changes?.insert(position, slots: slots)
    }

    /// Removes the record with this key without a mark of its deletion.
    mutating func forget(key: String) {
        guard let position = positions[key], slots[position].state == .live else { return }
        changes?.remove(position, slots: slots)
        refilter(position, from: slots[position].text, to: nil)
        live = nil
        slots[position].state = .replaced
        positions[key] = nil
    }

    // MARK: Listing

    struct Selection {
        var rows: [JSONText]
        /// In all windows together.
        var total: Int
        /// The last of `rows`, when more follow.
        var next: ListMark?
        /// All changes up to this one are shown.
        var version = 0
    }

    /// One window of the records whose fields have the given plain values.
    ///
    /// In change order no filter hides deleted records, because their old values are unknown.
    mutating func select(where conditions: [(name: String, value: String)], window: ListWindow) -> Selection {
        let wanted = conditions.isEmpty ? nil : matching(conditions)
        switch window.order {
        case .arrival: return slice(wanted ?? livePositions(), window)
        case .versions(let after):
            let hidden = hidden(window)
            return slice(changedPositions(after: after, before: hidden), among: wanted, window)
        case .changes(let since):
            buildChanges()
            let positions = changedPositions(since: since)
            guard let seen = window.deletedBefore?.milliseconds else { return slice(positions, among: wanted, window) }
            let visible = positions.filter { slots[$0].state != .deleted || slots[$0].changed ?? 0 < seen }
            return slice(visible, among: wanted, window)
        case .newestFirst:
            buildChanges()
            let live = livePositions()
            return slice(newestPositions(live), among: wanted, window)
        }
    }

    private func slice(
        _ positions: some RandomAccessCollection<Int>, among wanted: [Int]?, _ window: ListWindow
    ) -> Selection {
        guard let wanted else { return slice(positions, window) }
        let members = Set(wanted)
        return slice(positions.filter { slots[$0].state == .deleted || members.contains($0) }, window)
    }

    private func slice(_ positions: some RandomAccessCollection<Int>, _ window: ListWindow) -> Selection {
        let rest =
            switch window.start {
            case .skipping(let count): positions.dropFirst(count)
            case .afterKey(let key):
                // The record may have been deleted since the page was read.
                slots.firstIndex { $0.key == key }.map { last in
                    let mark = slots[last].mark(at: last)
                    return positions[positions.partitioningIndex { isBeyond(mark, $0, window.order) }...]
                } ?? positions[positions.endIndex...]
            case .after(let mark): positions[positions.partitioningIndex { isBeyond(mark, $0, window.order) }...]
            }
        let page = rest.prefix(window.size)
        let next = page.count < rest.count ? page.last.map { mark(of: $0, window.order) } : nil
        return Selection(
            rows: page.map { slots[$0].text }, total: positions.count, next: next,
            version: hidden(window).map { $0 - 1 } ?? version)
    }

    /// By version, up to the first deletion that is not shown yet.
    private func changedPositions(after version: Int, before hidden: Int? = nil) -> [Int] {
        slots.indices.filter { position in
            let slot = slots[position]
            return slot.state != .replaced && slot.version > version && slot.version < hidden ?? .max
        }.sorted { slots[$0].version < slots[$1].version }
    }

    /// The version of the first deletion that is not shown yet.
    private func hidden(_ window: ListWindow) -> Int? {
        guard let seen = window.deletedBefore?.milliseconds else { return nil }
        return slots.lazy.filter { $0.state == .deleted && $0.changed ?? 0 >= seen }.map(\.version).min()
    }

    private func mark(of position: Int, _ order: ListWindow.Order) -> ListMark {
        var mark = slots[position].mark(at: position)
        if case .versions = order { mark.changed = Int64(slots[position].version) }
        return mark
    }

    private func isBeyond(_ mark: ListMark, _ position: Int, _ order: ListWindow.Order) -> Bool {
        let other = slots[position].mark(at: position)
        switch order {
        case .arrival: return position > mark.position
        case .versions: return slots[position].version > mark.changed.map { Int($0) } ?? 0
        case .changes: return mark.isBefore(other)
        case .newestFirst:
            guard mark.changed == nil, other.changed == nil else { return other.isBefore(mark) }
            return position > mark.position
        }
    }

    private mutating func livePositions() -> [Int] {
        if let live { return live }
        let found = slots.indices.filter { slots[$0].state == .live }
        live = found
        return found
    }

    private func changedPositions(since: Timestamp) -> ArraySlice<Int> {
        changes?.positions(since: since.milliseconds, slots: slots) ?? []
    }

    private func newestPositions(_ live: [Int]) -> [Int] {
        (changes?.order.reversed() ?? []) + live.filter { slots[$0].changed == nil }
    }

    private mutating func buildChanges() {
        guard changes == nil else { return }
        for position in slots.indices where slots[position].state == .live {
            slots[position].changed = changeTime(of: slots[position].text)
        }
        changes = ChangeOrder(slots: slots)
    }

    private func changeTime(of record: JSONText) -> Int64? {
        entity.pull?.changedAt.flatMap { record[$0]?.changeTime?.milliseconds }
    }

    // MARK: Filters

    private mutating func matching(_ conditions: [(name: String, value: String)]) -> [Int] {
        var result: [Int]?
        for (name, value) in conditions {
            if filters[name] == nil { filters[name] = index(by: name) }
            let found = filters[name]?[value] ?? []
            result = result.map { $0.filter(Set(found).contains) } ?? found
        }
        return result ?? []
    }

    private mutating func index(by field: String) -> [String: [Int]] {
        var index: [String: [Int]] = [:]
        for position in livePositions() {
            index[entity.value(of: field, in: slots[position].text)?.plain ?? "", default: []].append(position)
        }
        return index
    }

    private mutating func refilter(_ position: Int, from old: JSONText?, to new: JSONText?) {
        // A copy of the names: iterating over the dictionary itself would make each change copy an index first.
        for field in Array(filters.keys) {
            let before = old.map { entity.value(of: field, in: $0)?.plain ?? "" }
            let after = new.map { entity.value(of: field, in: $0)?.plain ?? "" }
            guard before != after else { continue }
            if let before { filters[field]?[before]?.removeAll { $0 == position } }
            guard let after else { continue }
            let place = filters[field]?[after]?.firstIndex { $0 > position } ?? filters[field]?[after]?.count ?? 0
            filters[field]?[after, default: []].insert(position, at: place)
        }
    }
}
