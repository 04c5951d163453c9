import EntitySchema
import ReferenceUpstream

/// What a seed decides before its script begins: how the upstream behaves and how the daemons are configured.
struct SimulationSettings: Sendable {
    var daemons: Int
    var idempotency: Bool
    /// The upstream assigns its own keys to created records.
    var renames: Bool
    var policy: ConflictPolicy
    var overlap: Int
    var pageSize: Int
    /// Lists are sorted by key, otherwise by change time, so that records move between pages.
    var sortsByKey: Bool
    var newestFirst: Bool
    /// There are also visits, which are listed only per customer.
    var hasVisits: Bool
    var versions: Bool
    var maximumAttempts: Int
    var parallel: Int
    /// One more outage follows after all faults are removed.
    var endsWithOutage: Bool
    /// The errors of the upstream's clock and of each daemon's, in milliseconds.
    var serverClockError: Int
    var clockErrors: [Int]
    /// Everything that the cache keeps twice is compared after each step. There is also more of it: customers are
    /// searched and count their orders, orders have reminders.
    var comparesAll: Bool
    /// Which orders the caches keep.
    var window: Window
    /// How far the window reaches at each start of a daemon, in turn.
    var shapes: [WindowShape]
    /// How it says what has changed and what is gone.
    var feeds: Feeds

    enum Window: CaseIterable {
        case everything, open, recent, openAndRecent
        /// Orders that are due soon: more of them as time passes.
        case dueSoon

        var hasStages: Bool { self == .open || self == .openAndRecent }
        var hasTime: Bool { self == .recent || self == .openAndRecent }
        var hasDueTime: Bool { self == .dueSoon }
    }

    /// `mutation`: the settings are chosen so that this fault takes effect.
    init(seed: UInt64, for mutation: Mutation? = nil) {
        var random = SplitMix64(seed: seed ^ 0x7661_7269_6574_7900)
        daemons = random.chance(0.4) ? 2 : 1
        idempotency = random.chance(0.7)
        renames = random.chance(0.6)
        policy = random.chance(0.3) ? .lastWriteWins : random.pick(ConflictPolicy.allCases)
        overlap = random.pick([60, 300])
        pageSize = random.within(2...4)
        sortsByKey = random.chance(0.7)
        newestFirst = random.chance(0.3)
        hasVisits = random.chance(0.4)
        versions = random.chance(0.4)
        maximumAttempts = random.within(2...4)
        parallel = random.within(1...4)
        endsWithOutage = random.chance(0.25)
        serverClockError = random.within(-120_000...120_000)
        clockErrors = (0..<2).map { _ in
            let most = random.pick([120_000, 18_000_000, 315_576_000_000])
            return random.within(-most...most)
        }
        comparesAll = seed % 8 == 0
        var other = SplitMix64(seed: seed ^ 0x7769_6e64_6f77)
        window = other.chance(0.6) ? .everything : other.pick(Window.allCases)
        let changesWindow = other.chance(0.5)
        shapes = (0..<5).map { _ in changesWindow ? other.pick(WindowShape.allCases) : .base }
        feeds = Feeds(seed: seed)
        adapt(to: mutation)
    }

    private mutating func adapt(to mutation: Mutation?) {
        if mutation?.rule == .consistent { comparesAll = true }
        switch mutation {
        case .changesKeys: idempotency = true
        case .forgetsOrder: parallel = 4
        case .ignoresServersClock:
            policy = .lastWriteWins
            clockErrors = [18_000_000, -18_000_000]
        case .takesFailuresForAnswers: endsWithOutage = true
        case .forgetsHeldRecords: window = .recent
        case .runsAheadOfToken: feeds.changes = .token
        case .runsAheadOfDeletions:
            feeds.deletions = .dated
            feeds.deletionsLag = 0
            feeds.retention = nil
        case .believesOldDeletions:
            feeds.deletions = .whole
            feeds.deletionsLag = 0
            feeds.retention = nil
            // A signal brings the record back before the list of deletions is read again.
            feeds.signals = .stream
            feeds.losses = 0
            feeds.signalsLag = 0
        case .ignoresSignals: if feeds.signals == .none { feeds.signals = .stream }
        case .ignoresWindow: window = .open
        case .forgetsWaitingFigures:
            // The orders of loaded customers are loaded in several pages.
            parallel = 1
            pageSize = 2
            window = .everything
        default: break
        }
    }

    /// Two entities that list what changed, one of them with flags as tombstones, and children that are listed whole.
    ///
    /// `ignoringWindow`: as an engine has it that keeps everything.
    func schema(_ shape: WindowShape = .base, ignoringWindow: Bool = false) throws -> EntitySchema {
        let text = ignoringWindow ? yaml.replacing(conditions(.base), with: "") : yaml(shape)
        return try EntitySchema(yaml: text, file: "simulated.yaml")
    }

    var yaml: String { yaml(.base) }

    private func yaml(_ shape: WindowShape) -> String {
        let lookUp = idempotency ? "" : renames ? ", look_up: { match: [name] }" : ", look_up: key"
        let noteLookUp = idempotency ? "" : renames ? ", look_up: { match: [text] }" : ", look_up: key"
        let ordersMode = newestFirst ? "mode: newest_first, changed_at: updated_at" : since
        return """
            schema: simulated
            upstream:
              base_url: http://simulated
              account: { path: /me, id: id }
              records: data
              pagination: { style: page, page_size: \(pageSize), total: total }
              \(idempotency ? "idempotency_header: Idempotency-Key" : "")
              \(versions ? "version: { field: updated_at, header: If-Version }" : "")
              \(feeds.sources)
            \(comparesAll ? Self.reminders : "")
            entities:
              customers:
                conflict: \(policy.rawValue)
                fields:
                  id: { type: string }
                  name: { type: string, index: true\(comparesAll ? ", search: words" : "") }
                  phone: { type: string }
                  updated_at: { type: time }
                  \(comparesAll ? "order_count: { type: integer, derive: { count: orders } }" : "")
                pull: { path: /customers, \(feeds.since ?? since), deleted: deleted_at\(detail) }
                \(relations)
                push:
                  create: { call: POST /customers\(lookUp) }
                  update: { call: "PATCH /customers/{id}" }
                  delete: { call: "DELETE /customers/{id}" }
              orders:
                conflict: \(policy.rawValue)
                fields:
                  id: { type: string }
                  name: { type: string }
                  status: { type: string }
                  customer_id: { type: reference, to: customers }
                  updated_at: { type: time }
                  \(window.hasStages ? "stage: { type: enum, values: { open: Open, done: Done } }" : "")
                  \(window.hasDueTime ? "due_at: { type: time }" : "")
                pull: { path: /orders, \(ordersMode), \(feeds.deleted(overlap: overlap))\(conditions(shape)) }
                push:
                  create: { call: POST /orders\(lookUp) }
                  update: { call: "PATCH /orders/{id}" }
                  delete: { call: "DELETE /orders/{id}" }
              notes:
                conflict: \(policy.rawValue)
                order_within: order_id
                fields:
                  id: { type: string }
                  order_id: { type: reference, to: orders }
                  text: { type: string }
                pull: { path: /notes }
                push:
                  create: { call: "POST /orders/{order_id}/notes"\(noteLookUp) }
                  update: { call: "PATCH /notes/{id}" }
            \(hasVisits ? visits : "")
            """
    }

    private static let reminders = """
        reminders:
          order_done: { of: orders, at: updated_at, before: 1h, text: "{name}" }
        """

    private func conditions(_ shape: WindowShape) -> String {
        let conditions = [
            window.hasStages ? "stage: [\(shape.stages.joined(separator: ", "))]" : nil,
            window.hasTime ? "updated_at.gte: \"{$now-\(shape.span)s}\"" : nil,
            window.hasDueTime ? "due_at.lt: \"{$now+\(shape.span)s}\"" : nil,
        ].compactMap(\.self)
        guard !conditions.isEmpty else { return "" }
        let query = window.hasTime ? ", query: { before: \"{$until}\" }" : ""
        return "\(query), where: { \(conditions.joined(separator: ", ")) }"
    }

    private var relations: String {
        let relations = [
            hasVisits ? "visits: { of: visits, by: customer_id, on_delete: cascade }" : nil,
            comparesAll ? "orders: { of: orders, by: customer_id, on_delete: keep }" : nil,
        ].compactMap(\.self)
        return relations.isEmpty ? "" : "many: { \(relations.joined(separator: ", ")) }"
    }

    private var detail: String {
        hasVisits ? ", detail: { path: \"/customers/{id}/visits\", into: visits, when_changed: updated_at }" : ""
    }

    private var visits: String {
        let lookUp = idempotency ? "" : ", look_up: { match: [text], path: \"/customers/{customer_id}/visits\" }"
        return """
              visits:
                conflict: \(policy.rawValue)
                fields:
                  id: { type: string }
                  customer_id: { type: reference, to: customers, required: true }
                  text: { type: string }
                push:
                  create: { call: "POST /customers/{customer_id}/visits"\(lookUp) }
                  update: { call: "PATCH /visits/{id}" }
            """
    }

    private var since: String { "since: { param: since, field: updated_at, overlap: \(overlap)s }" }

    /// Fields whose values identify the edit that wrote them.
    static let markedFields = [
        "customers": ["name", "phone"], "orders": ["name", "status"], "notes": ["text"], "visits": ["text"],
    ]
    /// Whether users set a field, here or upstream.
    static func isWritten(_ field: String, of entity: String) -> Bool {
        markedFields[entity]?.contains(field) == true || entity == "orders" && ["stage", "due_at"].contains(field)
    }

    var entities: [String] { ["customers", "orders", "notes"] + (hasVisits ? ["visits"] : []) }
    /// The reference that a new record of an entity needs.
    static let parents = [
        "orders": (field: "customer_id", entity: "customers"), "notes": ("order_id", "orders"),
        "visits": ("customer_id", "customers"),
    ]
}
