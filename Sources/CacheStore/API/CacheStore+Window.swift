package import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Keeps the cache to what the schema's windows include (`pull.where`).
extension CacheStore {
    /// How many candidates a transaction looks at, and how many rows it removes: callers' writes go in between.
    private static let batch = 200

    /// The window of an entity at the upstream's time; nil without one, and while it needs an account that is not known.
    package func window(of entity: Entity, at serverNow: Timestamp) throws -> RecordTest? {
        guard let window = entity.pull?.window else { return nil }
        return window.test(at: serverNow, account: window.usesAccount ? try account() : nil)
    }

    /// Text that differs when another window applies to the entity; nil without one.
    package func windowDefinition(of entity: Entity) throws -> String? {
        guard let window = entity.pull?.window else { return nil }
        let account = window.usesAccount ? try account() : nil
        let returns = try windowTime(of: entity.name)?.returns ?? 0
        return WindowDefinition(of: window, account: account, returns: returns).text
    }

    /// Whether the entity's list must show something, going by what is cached.
    package func expectsList(of entity: Entity, at serverNow: Timestamp) throws -> Bool {
        guard let test = try window(of: entity, at: serverNow) else {
            return try rowCount(of: entity.name) > 0
        }
        return try read { db in
            // Its text holds times, so it is not worth a place among the prepared ones.
            try Bool.fetchOne(db, sql: try statement(entity, test).inside) ?? false
        }
    }

    /// The fields that the entity's window tests and that no record of its whole list had: nothing leaves for them.
    package func untested(of entity: String) throws -> [String] {
        try setting("untested:\(entity)")?.split(separator: ",").map(String.init) ?? []
    }

    /// Writes nothing when it is known.
    package func setUntested(_ fields: [String], of entity: String) async throws {
        guard try untested(of: entity) != fields else { return }
        try await setSetting("untested:\(entity)", to: fields.joined(separator: ","))
    }

    /// Removes every record that is outside of its entity's window and that nothing holds. Returns how many left, by
    /// entity.
    ///
    /// The candidates are found on a reader. What they refer to may leave once they have left, so this goes on until
    /// nothing leaves.
    ///
    /// `unpulled`: entities of which nothing leaves, because no pull has brought all of their window yet. Otherwise the
    /// window of the last pull, set again, would count as complete.
    package func leaveWindows(
        at now: Timestamp, serverNow: Timestamp, unpulled: Set<String> = []
    ) async throws -> [String: Int] {
        var left: [String: Int] = [:]
        let entities = try schema.entities.filter {
            try $0.pull?.window != nil && !unpulled.contains($0.name) && untested(of: $0.name).isEmpty
        }
        var goesOn = !entities.isEmpty
        while goesOn {
            goesOn = false
            for entity in entities.reversed() {
                guard let test = try window(of: entity, at: serverNow) else { continue }
                let count = try await leave(try statement(entity, test), at: now, serverNow)
                left[entity.name, default: 0] += count
                goesOn = goesOn || count > 0
            }
        }
        return left.filter { $0.value > 0 }
    }

    private func leave(_ statement: WindowStatement, at now: Timestamp, _ serverNow: Timestamp) async throws -> Int {
        let settledBefore = now - schema.upstream.settle
        var candidates = try snapshot { db in
            try Int64.fetchAll(db, sql: statement.leaving(), arguments: [settledBefore.milliseconds])
        }[...]
        var left = 0
        while !candidates.isEmpty, !Task.isCancelled {
            let pks = Array(candidates.prefix(Self.batch))
            try await noteWindowTime(serverNow, of: statement.table.entity)
            let step = try await change(at: now) { context in
                try WindowExit(statement: statement, context: context, settledBefore: settledBefore)
                    .leave(pks, most: Self.batch)
            }
            left += step.left
            candidates = candidates.dropFirst(step.looked)
        }
        return left
    }

    private func statement(_ entity: Entity, _ test: RecordTest) throws -> WindowStatement {
        WindowStatement(
            table: try table(entity.name), ties: WindowTies(of: entity, in: schema), test: test, schema: schema)
    }
}
