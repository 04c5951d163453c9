internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Notes what depends on a record that is written: overlays to recompute, reminders, the search index.
struct RecordDependents {
    /// One version of a record, with the values of its watched fields as readers see them and as the server has them.
    struct Version {
        var image: RecordImage
        var shown: [JSONText?]
        var remote: [JSONText?]

        func differs(from other: Version) -> Bool {
            image.key.exact != other.image.key.exact || image.isDeleted != other.image.isDeleted
        }
    }

    let plan: RecordPlan
    let transaction: RecordTransaction

    private var db: Database { transaction.db }
    private var entity: Entity { plan.entity }

    // MARK: Events

    /// `values`: those of the watched fields; a new row is as the server says or still empty.
    func noteInserted(_ image: RecordImage, _ values: [JSONText?]) throws {
        let version = Version(image: image, shown: values, remote: values)
        noteForHooks(nil, image)
        try noteOwnVersion(nil, version)
        for reference in plan.references {
            if reference.tie.isCounted { noteParents(reference, version) }
            if reference.tie.onDelete == .cascade { try noteOwner(reference, [version], image.key) }
        }
        for reminder in plan.reminders where image.remote != nil { try reminder.note(image.pk, key: image.key, db) }
    }

    /// `changed`: the watched fields that differ, for readers or on the server.
    func noteUpdated(_ old: Version, _ new: Version, _ changed: RecordPlan.Fields) throws {
        noteForHooks(old.image, new.image)
        if old.image.key.exact != new.image.key.exact || old.image.remote != new.image.remote {
            try noteOwnVersion(old, new)
        }
        for reference in plan.references {
            let isRecounted = changed & reference.counted != 0 || old.differs(from: new)
            if reference.tie.isCounted, isRecounted {
                noteParents(reference, old)
                noteParents(reference, new)
            }
            if reference.tie.onDelete == .cascade, changed & RecordPlan.bit(reference.place) != 0 {
                try noteOwner(reference, [old, new], new.image.key)
            }
        }
        if old.image.isDeleted != new.image.isDeleted { try noteOwned(by: old.image.key) }
        try noteReminders(old, new, changed)
    }

    func noteDeleted(_ image: RecordImage, _ shown: [JSONText?], _ remote: [JSONText?]) throws {
        let version = Version(image: image, shown: shown, remote: remote)
        noteForHooks(image, nil)
        for reference in plan.references where reference.tie.isCounted { noteParents(reference, version) }
        try noteOwned(by: image.key)
        for reminder in plan.reminders { try reminder.noteDeleted(image.key, db) }
        if let sql = plan.searchDeletion {
            try transaction.with(sql) { try $0.run() }
            transaction.forgetIndexed()
        }
    }

    /// Call this before the row changes. `shown`: the values of the watched fields; `new` is nil when it is deleted.
    func noteSearched(
        _ old: RecordImage, _ shown: [JSONText?], _ new: RecordImage?, _ changed: RecordPlan.Fields
    ) throws {
        let isWhole = new == nil || old.isDeleted != new?.isDeleted
        var isNoted = false
        for note in plan.searchNotes where isWhole || changed & note.fields != 0 {
            // What is not indexed yet is found by the index itself.
            guard try old.pk <= transaction.indexedTo(plan) else { return }
            try note.save(old, shown, transaction)
            isNoted = true
        }
        if isNoted { transaction.plans.searchBacklog.add(1, bytes: old.size) }
    }

    // MARK: Its own overlay

    private func noteOwnVersion(_ old: Version?, _ new: Version) throws {
        guard try mayBeLaidOver(new) else { return }
        let shown = plan.followed.isEmpty ? .none : old?.image.shown.map(followed)
        transaction.stale.insert(new.image.key, of: entity.name, .version, shown: shown)
    }

    /// Whether an overlay may be needed for the version that the server now has of the record: nearly always the server
    /// sends the figures itself, and no child differs.
    private func mayBeLaidOver(_ new: Version) throws -> Bool {
        guard plan.hasDerivedFields else { return false }
        guard let figures = plan.simpleFigures, new.image.whole == nil, new.image.derived == nil else { return true }
        return try figures.contains { new.remote[$0] == nil } || !transaction.isQueueEmpty()
    }

    private func followed(_ shown: JSONText) -> JSONText {
        .object(
            members: plan.followed.compactMap { name in
                entity.value(of: name, in: shown).map { (key: name, value: $0) }
            })
    }

    // MARK: Records that are computed from it

    private func noteParents(_ reference: RecordPlan.Reference, _ version: Version) {
        let isSent = reference.isSimple && version.image.isPlain
        // Their figures are all sent, as in most pulls.
        if isSent, reference.unsaid?.isRaised == false { return }
        let (shown, remote) = (version.shown[reference.place], version.remote[reference.place])
        for value in shown == remote ? [shown] : [shown, remote] {
            guard let key = key(value, reference, version) else { continue }
            transaction.stale.insert(key, of: reference.tie.entity, isSent ? .sentChildren : .children)
        }
    }

    private func key(_ value: JSONText?, _ reference: RecordPlan.Reference, _ version: Version) -> String? {
        // A record whose own key is the reference may have been renamed since the server sent it.
        reference.tie.field == entity.key ? version.image.key : value?.plain
    }

    // MARK: Records that are deleted with it, or it with them

    /// Notes the record if it gets an owner whose deletion is queued, or may have had one.
    private func noteOwner(_ reference: RecordPlan.Reference, _ versions: [Version], _ key: String) throws {
        guard try !transaction.isQueueEmpty() else { return }
        for version in versions {
            guard let owner = self.key(version.shown[reference.place], reference, version) else { continue }
            if try RecordRow.isDeleted(owner, of: reference.tie.entity, db) == true {
                return transaction.stale.insert(key, of: entity.name, .owner)
            }
        }
    }

    private func noteOwned(by key: String) throws {
        for owned in plan.owned {
            let keys = try String.fetchCursor(
                db.cachedStatement(sql: owned.table.referring(by: owned.field, "= ?1")), arguments: [key])
            while let key = try keys.next() { transaction.stale.insert(key, of: owned.table.entity.name, .owner) }
        }
    }

    // MARK: Reminders

    private func noteReminders(_ old: Version, _ new: Version, _ changed: RecordPlan.Fields) throws {
        for reminder in plan.reminders {
            if old.image.key.exact != new.image.key.exact {
                try reminder.noteRenamed(from: old.image.key, to: new.image.key, db)
            }
            guard changed & plan.fields(reminder.fields) != 0 || old.differs(from: new) else { continue }
            try reminder.note(new.image.pk, key: new.image.key, db)
        }
    }

    // MARK: Hooks

    private func noteForHooks(_ old: RecordImage?, _ new: RecordImage?) {
        guard !plan.hooks.isEmpty, !transaction.isLoading else { return }
        transaction.hooks.note(plan, from: old, to: new)
    }
}
