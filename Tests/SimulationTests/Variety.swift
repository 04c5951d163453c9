import EntitySchema
import ReferenceUpstream

/// What differs from seed to seed before a script begins: the upstream's manners and the daemons' settings.
struct Variety: Sendable {
    var daemons: Int
    var idempotency: Bool
    /// The upstream gives created records keys of its own.
    var renames: Bool
    var policy: ConflictPolicy
    var overlap: Int
    var pageSize: Int
    /// Lists go by key, else by time of change, in which records move under the pages.
    var sortsByKey: Bool
    var newestFirst: Bool
    /// There are visits too, listed only for each customer.
    var hasVisits: Bool
    var versions: Bool
    var maximumAttempts: Int
    var parallel: Int
    /// When all is well again there is one more outage.
    var endsWithOutage: Bool
    /// Of the upstream's clock and each daemon's, in milliseconds.
    var serverClockError: Int
    var clockErrors: [Int]

    /// `mutation`: made to matter, as far as the world decides on that.
    init(seed: UInt64, suiting mutation: Mutation? = nil) {
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
        suit(mutation)
    }

    private mutating func suit(_ mutation: Mutation?) {
        switch mutation {
        case .forgetsOrder: parallel = 4
        case .ignoresServersClock:
            policy = .lastWriteWins
            clockErrors = [18_000_000, -18_000_000]
        case .takesFailuresForAnswers: endsWithOutage = true
        default: break
        }
    }

    /// Three kinds of records: two that tell what changed, one with tombstones by flag, and children that are listed whole.
    func schema() throws -> EntitySchema { try EntitySchema(yaml: yaml, file: "simulated.yaml") }

    var yaml: String {
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
            entities:
              customers:
                conflict: \(policy.rawValue)
                fields:
                  id: { type: string }
                  name: { type: string, index: true }
                  phone: { type: string }
                  updated_at: { type: time }
                pull: { path: /customers, \(since), deleted: deleted_at\(detail) }
                \(hasVisits ? "many: { visits: { of: visits, by: customer_id, on_delete: cascade } }" : "")
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
                pull: { path: /orders, \(ordersMode), deleted: deleted }
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

    /// Fields whose values tell one edit from another.
    static let markedFields = [
        "customers": ["name", "phone"], "orders": ["name", "status"], "notes": ["text"], "visits": ["text"],
    ]
    var entities: [String] { ["customers", "orders", "notes"] + (hasVisits ? ["visits"] : []) }
    /// The reference that a new record of an entity needs.
    static let parents = [
        "orders": (field: "customer_id", entity: "customers"), "notes": ("order_id", "orders"),
        "visits": ("customer_id", "customers"),
    ]
}
