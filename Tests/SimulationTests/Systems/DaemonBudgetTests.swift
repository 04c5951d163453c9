import EntitySchema
import JSONText
import ReferenceUpstream
import SyncEngine
import TestSupport
import Testing
import Upstream

@testable import CacheStore

/// A whole daemon over days, with an upstream that takes 100 requests a minute and counts those that arrive.
@Suite("Simulation of a daemon with a budget", .serialized)
struct DaemonBudgetTests {
    private static let minute = RequestLimits.Window(requests: 100, span: .seconds(60))

    /// Lists, children that are read for each parent, contents, and a token that lives for five minutes.
    private static let shop = """
        schema: shop
        upstream:
          base_url: http://simulated
          auth:
            session:
              call: POST /sign-in
              body: { user: "{$secret.user}", password: "{$secret.password}" }
              token: token
              expires: jwt
            refresh: { call: POST /refresh, with: access, token: token, expires: jwt }
          account: { path: /me, id: id }
          probe: /health
          idempotency_header: Idempotency-Key
          pagination: { style: page, page: page, size: per, page_size: 5, total: total }
          records: data
          settle: 5s
        entities:
          customers:
            fields:
              id: { type: string }
              name: { type: string, index: true }
              updated_at: { type: time }
            many: { orders: { of: orders, by: customer_id, on_delete: cascade } }
            pull: { path: /customers, since: { param: since, field: updated_at } }
            push:
              create: { call: POST /customers, look_up: key }
              update: { call: "PATCH /customers/{id}" }
          orders:
            fields:
              id: { type: string }
              customer_id: { type: reference, to: customers, required: true }
              note: { type: string }
              updated_at: { type: time }
            many: { lines: { of: lines, by: order_id, on_delete: cascade } }
            pull:
              path: /orders
              since: { param: since, field: updated_at }
              detail: { path: "/orders/{id}/lines", into: lines, when_changed: updated_at }
            push:
              create: { call: POST /orders, look_up: key }
              update: { call: "PATCH /orders/{id}" }
              delete: { call: "DELETE /orders/{id}" }
          lines:
            fields:
              id: { type: string }
              order_id: { type: reference, to: orders, required: true }
              text: { type: string }
            push:
              create: { call: "POST /orders/{order_id}/lines" }
              update: { call: "PATCH /orders/{order_id}/lines/{id}" }
          visits:
            fields:
              id: { type: string }
              note: { type: string }
              updated_at: { type: time }
            content: { path: "/visits/{id}/picture" }
            pull: { path: /visits, since: { param: since, field: updated_at } }
            push: { update: { call: "PATCH /visits/{id}" } }
        """

    private static func plan(_ seed: UInt64) -> SystemPlan {
        var plan = SystemPlan(name: "shop", seed: seed, yaml: shop)
        plan.rows = 300
        plan.limits = RequestLimits(windows: [minute])
        var user = ReferenceUpstream.User(name: "ada", password: "right")
        user.accessLifetime = .seconds(300)
        plan.user = user
        plan.interval = .seconds(600)
        plan.fullEvery = .seconds(6 * 3600)
        return plan
    }

    @Test(
        "over days no minute has more than 100 requests, and no change waits for more than one pull",
        arguments: SimulationSeeds.first(1, full: 5))
    func days(_ seed: UInt64) throws {
        let databases = try DatabaseFolder()
        defer { databases.remove() }
        let world = try SystemWorld(Self.plan(seed), databases: databases)
        try EnqueueHook.withJobs(takenBy: { [executor = world.executor] in executor.enqueue($0) }) {
            try live(in: world, for: .seconds(2 * 86_400))
            // Checks both rules.
            try world.end()
        }
        let reached = Set(world.reference.log.map { "\($0.method) \($0.path)" })
        #expect(reached.isSuperset(of: ["POST /sign-in", "GET /health", "GET /me", "POST /orders"]))
        #expect(reached.contains { $0.hasSuffix("/picture") })
        #expect(world.transport.most(within: Self.minute.span) > 70, "the limit must have been felt")
        #expect(world.requests.waits > 20, "changes must have waited for their turn")
    }

    /// What happens to an installation, at random times of up to an hour.
    private func live(in world: SystemWorld, for span: Duration) throws {
        var random = SplitMix64(seed: world.plan.seed ^ 0x6275_6467_6574)
        while world.executor.now < span {
            try world.start()
            switch random.below(10) {
            case 0..<2: write(random.within(1...5), in: world, &random)
            case 2, 3:
                // While a long pull uses up its share, more is written than what is left for it.
                world.sync(full: true)
                world.executor.run(for: .seconds(random.within(1...60)))
                write(random.within(20...90), in: world, &random)
            case 4:
                for _ in 0..<3 { world.deleteUpstream(random.pick(world.entities)) }
                world.sync(full: true)
            case 5:
                for _ in 0..<9 { world.editUpstream(random.pick(world.entities)) }
            case 6, 7:
                world.transport.setOnline(false)
                write(random.within(1...40), in: world, &random)
                world.executor.run(for: .seconds(random.within(10...900)))
                world.transport.setOnline(true)
            case 8: openPictures(in: world)
            default:
                world.executor.run(jobs: random.below(400), within: .seconds(20))
                try world.crash()
            }
            world.reference.faults = random.chance(0.2) ? Self.faults : Faults()
            world.executor.run(for: .seconds(random.within(1...random.pick([60, 900, 3600]))))
        }
    }

    private func write(_ count: Int, in world: SystemWorld, _ random: inout SplitMix64) {
        for _ in 0..<count {
            let entity = random.pick(world.entities)
            if random.chance(0.5), !entity.push.create.isEmpty { world.create(entity) } else { world.edit(entity) }
        }
    }

    /// People look at pictures, with the budget of the daemon.
    private func openPictures(in world: SystemWorld) {
        guard let upstream = world.upstream else { return }
        for record in world.reference.records(of: "visits").prefix(30) {
            let path = "/visits/\(record["id"]?.plain ?? "")/picture"
            Task { _ = try? await upstream.download(path, limit: 1 << 20, into: BodySink { _ in true }) }
        }
    }

    private static let faults = Faults([
        Faults.Rule(.fail(status: 503), rate: 0.1), Faults.Rule(.cutBody, rate: 0.1),
    ])
}
