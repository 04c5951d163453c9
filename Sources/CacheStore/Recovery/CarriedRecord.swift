internal import EntitySchema
internal import JSONText

/// The record of an imported change, as the other database knew it.
struct CarriedRecord {
    private let change: ExportedChange
    private let entity: Entity
    private let context: WriteContext

    init(of change: ExportedChange, _ entity: Entity, _ context: WriteContext) {
        (self.change, self.entity, self.context) = (change, entity, context)
    }

    private var key: String { change.recordKey }
    private var writer: RecordWriter { context.writer(EntityTable(entity: entity)) }

    /// Adds the record as the other database had it, if this one has none or an older version: a change needs a record to be
    /// shown and addressed, and the version that it was based on must not count as an edit by others.
    func keep() throws {
        let given = known
        if try writer.row.exists(key) {
            if let latest = change.latest { return try take(JSONText(parsing: latest)) }
            guard let given, let own = try writer.row.remote(of: key).flatMap(entity.changeTime),
                let changedAt = entity.changeTime(of: given), own < changedAt
            else { return }
        } else {
            try writer.insert(key)
        }
        guard let given else { return }
        try writer.setRemote(given, of: key, at: context.now)
        try settle(given)
    }

    /// What the other database knew; nil if the change creates the record.
    private var known: JSONText? {
        guard change.kind != .create else { return nil }
        var known = JSONText.object([:])
        if let stored = try? JSONText(parsing: change.record ?? change.base), stored.kind == .object { known = stored }
        if let latest = change.latest.flatMap({ try? JSONText(parsing: $0) }) { known = known.setting(latest) }
        return known[entity.key] == nil ? JSONText.object([entity.key: .string(key)]).setting(known) : known
    }

    /// Takes over what the holder of the lease knew of the record, unless this daemon's version is newer: what the change
    /// was based on must not count as an edit by others. Without a change time it is newer if it was read after the change
    /// was made.
    private func take(_ latest: JSONText) throws {
        guard let own = try writer.row.remote(of: key) else { return }
        let known = try JSONText(parsing: change.base).setting(latest)
        if let there = entity.changeTime(of: known) {
            if let here = entity.changeTime(of: own), there < here { return }
        } else {
            let pulledAt = try CursorRow(entity: entity.name, db: context.db).load().lastSyncedAt
            let read = [pulledAt, try writer.row.syncedAt(of: key)].compactMap(\.self)
            if read.contains(where: { $0.milliseconds > change.createdAt }) { return }
        }
        let news = known.members.filter { $0.key != entity.key && entity.value(of: $0.key, in: own) != $0.value }
        guard !news.isEmpty else { return }
        try writer.assumeRemote(own.setting(.object(members: news)), of: key)
        try settle(known)
    }

    /// Lists and reads may still be behind what the other database knew.
    private func settle(_ given: JSONText) throws {
        let rows = SettlingTable(entity: entity.name, db: context.db)
        let kind = try rows.row(of: key)?.kind ?? .written
        guard kind != .deleted, let changedAt = entity.changeTime(of: given) else { return }
        try rows.save(Settling(key: key, kind: kind, at: context.now, position: 0, changedAt: changedAt))
    }
}
