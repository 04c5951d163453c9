internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Searches a list for the record of a creation whose answer was lost: a record with the sent values that was not known
/// before.
struct CreationSearch {
    let reconciler: CreateReconciler
    /// The first page of the list.
    let request: PageRequest
    /// The fields that are compared: those of the look-up that were sent.
    let fields: [String]
    /// All fields of the look-up.
    let named: [String]
    /// As `PushRoute.shownAmong`.
    let among: [String: Place]

    init(
        _ reconciler: CreateReconciler, _ request: PageRequest, by fields: [String], of named: [String],
        among: [String: Place] = [:]
    ) {
        self.reconciler = reconciler
        self.request = request
        self.fields = fields
        self.named = named
        self.among = among
    }

    var change: OutboxChange { reconciler.change }
    var entity: Entity { reconciler.entity }
    var environment: SyncEnvironment { reconciler.environment }
    var store: CacheStore { environment.store }
    var upstream: any Upstream { reconciler.upstream }
    var now: Timestamp { reconciler.now }

    /// Reads the list until it says what became of the creation.
    ///
    /// In a list of several pages, the record may slide between them while they are read. It counts as absent when the
    /// next reading shows the same records in the same order: the same keys and compared fields, since other members
    /// may change with each reading. If others keep adding records, three readings are needed, each of which has all
    /// records of the one before. If the list keeps changing in other ways, it is read again later; after a day, the
    /// creation is left to a person.
    func finding() async throws -> CreateReconciler.Finding {
        var before: Reading?
        var extensions = 0
        for _ in 1...Self.mostReadings {
            let reading = try await read()
            if let found = reading.found { return .applied(found) }
            if let partial = reading.list.partial { return untilLong("the list may be cut: \(partial)") }
            guard reconciler.hasSettled(before: reading.list.age ?? .zero) else {
                return .notYet("the upstream may still apply the attempt")
            }
            // Such a list may still show the record, so a person is asked only once the upstream must show it.
            if let doubt = reading.doubt { return .unknowable("the list may be cut: \(doubt)") }
            let isSame = before.map(reading.isSame) ?? false
            extensions = before.map(reading.extends) ?? false ? extensions + 1 : 0
            let isAfterAttempt = reading.isNewer && reading.list.pages == 1
            // A list that grows while it is read has a greater total in the end.
            let onlyGrows = extensions == 2 && reading.missing == 0
            if isAfterAttempt || isSame || onlyGrows { return try await finding(reading) }
            before = reading
        }
        return untilLong("\(request.path) kept changing while it was read")
    }

    /// The finding from a list that may show more the next time.
    private func untilLong(_ reason: String) -> CreateReconciler.Finding {
        guard wasLookedUp(atLeast: 20, for: .seconds(86_400)) else { return .notYet(reason) }
        return .unknowable("\(reason), for a day (a look_up with a path that names the record avoids this)")
    }

    /// Whether look-ups were repeated for so long that the list is unlikely to be another one the next time. After fewer than
    /// `count`, the machine may have been off for most of the time.
    private func wasLookedUp(atLeast count: Int, for time: Duration) -> Bool {
        guard let attempt = change.lastAttemptAt, change.tried >= count else { return false }
        return now.since(attempt) >= time
    }

    /// The finding from a list in which no record is surely the created one.
    private func finding(_ reading: Reading) async throws -> CreateReconciler.Finding {
        // The upstream has said that it made one, so the only one that may be it is.
        if change.wasAccepted, let only = reading.only { return .applied(only) }
        if let near = reading.near ?? (reading.isTelling ? nil : reading.hidden) {
            return .unknowable("the upstream has a record that may be this one: \(near)")
        }
        if let twin = try editedTwin() {
            return .unknowable(
                "\(twin) came after the attempt, and may be this one, with other values since it was edited here")
        }
        if reading.missing > 0 {
            let reason = "the list may be cut: its total is \(reading.missing) more than its records"
            // Others may delete records between its pages, and some upstreams keep such a list for minutes.
            return wasLookedUp(atLeast: 8, for: .seconds(600)) ? .unknowable(reason) : .notYet(reason)
        }
        if reading.hasNameless {
            return .unknowable("the list shows a record without a key, which may be this one")
        }
        // An account that may see nothing is shown no records either.
        guard try await reconciler.judge.isServing(entity) else {
            throw UpstreamError.barred(
                status: 404, "a lost creation is looked up, and the upstream shows no \(entity.name) at all")
        }
        return .absent
    }

    /// The key of a record that came after the attempt and was edited here since, in a field that the look-up compares.
    /// Before the edit it may have had all the sent values.
    private func editedTwin() throws -> String? {
        try store.editedTwins(of: change).first { twin in
            !twin.fields.isDisjoint(with: fields)
                && change.isSaid(by: twin.record, of: entity, fields.filter { !twin.fields.contains($0) })
        }.map { entity.shownKey(of: $0.record) }
    }

    private static let mostReadings = 4
}
