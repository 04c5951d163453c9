import CacheStore
import EntitySchema
import Foundation
import JSONText
import Logging
import ReferenceUpstream
import SocketServer
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

/// Compares the cache's dashboard with the upstream's own, which is computed by other means.
@Suite("Dashboard")
struct DashboardTests {
    /// The same records in a cache and in an upstream, at a time that the test sets.
    private struct Pair {
        let schema: EntitySchema
        let api: LocalAPIServer
        let upstream: ReferenceUpstream
        private let time: Time

        private final class Time: Sendable {
            let now = Mutex(Timestamp(milliseconds: 0))
        }

        init(_ name: String, _ records: [String: [JSONText]], zone: String) async throws {
            schema = try ProjectFiles.schema(name)
            let store = try CacheStore.temporary(schema)
            for (entity, list) in records {
                _ = try await store.apply(
                    PulledPage(entity: entity, records: JSONText.array(list).text), at: Timestamp(milliseconds: 0))
            }
            let time = Time()
            self.time = time
            let now: @Sendable () -> Timestamp = { time.now.withLock { $0 } }
            var settings = ReferenceUpstream.Settings()
            settings.timeZone = zone
            settings.user = ReferenceUpstream.User(name: "ada", password: "x")
            settings.user?.id = Self.user(records)
            settings.token = "t"
            upstream = ReferenceUpstream(schema: schema, records: records, settings: settings, now: now)
            let engine = SyncEngine(
                store: store, upstream: AbsentUpstream(), time: SyncTime(clock: ContinuousClock(), now: now),
                random: { 0.5 }, log: Logger(label: "test"))
            api = LocalAPIServer(
                store: store, engine: engine, callers: CallerGuard(token: TestAPI.token, owners: [], group: nil),
                about: DaemonDescription(version: "1", startedAt: now()),
                calendar: try #require(DashboardCalendar(timeZone: zone)),
                runtime: APIRuntime(now: now, log: Logger(label: "test")))
        }

        /// The first user with an order assigned.
        private static func user(_ records: [String: [JSONText]]) -> String {
            let orders = records["orders"] ?? []
            return orders.compactMap { $0["assigned_user_id"]?.string ?? $0.at(path: "assigned_user.id")?.string }.first
                ?? "none"
        }

        func set(_ now: Timestamp) { time.now.withLock { $0 = now } }

        func cached(_ query: String) async throws -> JSONText {
            var headers = Headers()
            headers.append(name: "Host", value: "localhost")
            headers.append(name: "Authorization", value: "Bearer \(TestAPI.token)")
            let request = Request(method: "GET", path: "/v1/dashboard", query: query, headers: headers)
            return try Self.body(await api.respond(to: request))
        }

        func upstreams(_ query: String) async throws -> JSONText {
            var headers = Headers()
            headers.append(name: "Authorization", value: "Bearer t")
            let request = Request(
                method: "GET", path: schema.dashboard?.path ?? "", query: query, headers: headers)
            return try #require(try Self.body(try await upstream.exchange(request))["data"])
        }

        private static func body(_ response: Response) throws -> JSONText {
            guard case .bytes(let bytes) = response.body else { return .null }
            return try JSONText(bytes)
        }

        /// Figures that differ, with both values.
        func differences(_ query: String, cached cachedQuery: String) async throws -> [String] {
            let (ours, theirs) = (try await cached(cachedQuery), try await upstreams(query))
            guard let plan = schema.dashboard, theirs["period"] != nil else { return ["no answer: \(ours) \(theirs)"] }
            return plan.figures.map(\.name).compactMap { name in
                let (our, their) = (ours[name]?.text ?? "nothing", theirs[name]?.text ?? "nothing")
                return our == their ? nil : "\(name): cache \(our), upstream \(their)"
            }
        }

        /// Compares every period at each time in a full run, otherwise one, each period in turn.
        func compare(at times: [Timestamp]) async throws {
            let user = Self.user(["orders": upstream.records(of: "orders")])
            var deck = Deck(DashboardPeriod.allCases)
            for time in times {
                set(time)
                for period in TestRun.isFull ? DashboardPeriod.allCases : [deck.draw()] {
                    let query = "period=\(period.rawValue)"
                    let company = try await differences(query, cached: query + "&scope=company")
                    #expect(company.isEmpty, "\(time) \(period): \(company) \(TestRun.note())")
                    let own = try await differences(query + "&scope=user", cached: query + "&scope=user&user=\(user)")
                    #expect(own.isEmpty, "\(time) \(period) of \(user): \(own) \(TestRun.note())")
                }
            }
        }
    }

    private static let zones = [
        "Europe/London", "America/Santiago", "Asia/Kolkata", "Australia/Lord_Howe",
    ]

    @Test("the cache's figures equal the upstream's, around daylight saving changes and month ends", arguments: zones)
    func equality(_ zone: String) async throws {
        let seed = TestRun.seed
        var random = SplitMix64(seed: seed)
        let records = Self.crowded(ShopGenerator(orders: 60, seed: seed).records(), zone, &random)
        let pair = try await Pair("repairminder", records, zone: zone)
        try await pair.compare(at: Self.moments(zone, &random))
    }

    @Test("the same holds for the live shape, with money as text and nested names")
    func liveShape() async throws {
        let seed = TestRun.seed
        var random = SplitMix64(seed: seed)
        let pair = try await Pair(
            "repairminder-live", LiveShopGenerator(orders: 60, seed: seed).records(), zone: "Europe/London")
        let moments = Self.moments("Europe/London", &random)
        try await pair.compare(at: moments.suffix(8))
    }

    /// Moments at, just before and near each clock change and month's end, and some random ones. Unless the run is
    /// full, one moment for each of these edges.
    private static func moments(_ zone: String, _ random: inout SplitMix64) -> [Timestamp] {
        let turn = random.below(3)
        let near = edges(zone).enumerated().flatMap { index, edge -> [Timestamp] in
            let all = [edge, edge - .milliseconds(1), edge + .seconds(Int64(random.below(7200)) - 3600)]
            return TestRun.isFull ? all : [all[(index + turn) % all.count]]
        }
        return near + (0..<2).map { _ in ShopGenerator.reference - .seconds(Int64(random.below(40_000_000))) }
    }

    private static func edges(_ name: String) -> [Timestamp] {
        var edges = [
            "2026-02-28T23:30:00Z", "2026-03-01T00:00:00Z", "2025-12-31T23:59:59.999Z", "2026-03-31T10:30:00Z",
        ]
        .compactMap { Timestamp(iso8601: $0) }
        var date = Date(timeIntervalSince1970: 1_740_000_000)
        while let next = TimeZone(identifier: name)?.nextDaylightSavingTimeTransition(after: date), edges.count < 5 {
            edges.append(Timestamp(milliseconds: Int64(next.timeIntervalSince1970 * 1000)))
            date = next
        }
        return edges
    }

    /// Orders and devices moved to the hours around the edges, some of them with unusual amounts.
    private static func crowded(
        _ records: [String: [JSONText]], _ zone: String, _ random: inout SplitMix64
    ) -> [String: [JSONText]] {
        let edges = edges(zone)
        let amounts: [JSONText] = ["0.1", "0.2", "\"150.00\"", "null", "1e2", "0.005", "\"lots\""].compactMap {
            try? JSONText(parsing: $0)
        }
        var records = records
        for entity in ["orders", "devices"] {
            records[entity] = records[entity]?.map { record in
                guard random.below(2) == 0 else { return record }
                let near = edges[random.below(edges.count)] + .seconds(Int64(random.below(400_000)) - 200_000)
                let time = random.below(8) == 0 ? edges[random.below(edges.count)] : near
                return record.setting("created_at", to: .string(time.description))
                    .setting("total", to: amounts[random.below(amounts.count)])
            }
        }
        return records
    }

    // MARK: Asking

    static func smallAPI() async throws -> LocalAPIServer { try await small().api }

    private static func small() async throws -> Pair {
        let order = try JSONText(
            parsing: """
                {"id":"o","status":"ready","total":129.90,"client_id":"c","assigned_user_id":"u",
                "created_at":"2026-03-29T00:30:00Z"}
                """)
        let pair = try await Pair("repairminder", ["orders": [order]], zone: "Europe/London")
        pair.set(try #require(Timestamp(iso8601: "2026-03-29T12:00:00Z")))
        return pair
    }

    @Test("a day of 23 hours is shown with its ends, and money with its decimals")
    func shortDay() async throws {
        let answer = try await Self.small().cached("period=today")
        #expect(answer["from"]?.string == "2026-03-29T00:00:00.000Z")
        #expect(answer["until"]?.string == "2026-03-29T23:00:00.000Z")
        #expect(answer["time_zone"]?.string == "Europe/London")
        #expect(
            answer["revenue"]?.text == """
                {"current":{"total":129.90},"comparisons":[\
                {"period":"yesterday","total":0.00,"change":129.90,"change_percent":0.0},\
                {"period":"yesterday_to_date","total":0.00,"change":129.90,"change_percent":0.0}]}
                """)
        #expect(try await Self.small().cached("")["period"]?.string == "today")
    }

    @Test("every comparison has all its numbers, also without anything to compare with")
    func noBase() async throws {
        let pair = try await Self.small()
        for period in DashboardPeriod.allCases {
            let answer = try await pair.cached("period=\(period.rawValue)")
            let comparisons = answer.members.flatMap { $0.value["comparisons"]?.elements ?? [] }
            #expect(comparisons.count == 5 * (period.isUnderWay ? 2 : 1))
            for comparison in comparisons {
                let base = try #require(comparison["count"] ?? comparison["total"])
                #expect(base.kind == .number && comparison["change"]?.kind == .number)
                #expect(comparison["change_percent"]?.kind == .number, "\(comparison)")
                if base.text == "0" || base.text == "0.00" { #expect(comparison["change_percent"]?.text == "0.0") }
            }
        }
    }

    @Test(
        "an invalid parameter is refused with its name and the possible values",
        arguments: [
            ("period=last_year", 400, "period", "expected one of today"),
            ("period=this_mont", 400, "period", "did you mean this_month?"),
            ("scope=user", 422, "user", "user=<id>"), ("scope=team", 422, "scope", "company or user"),
            ("scope=company&user=u", 400, "user", "scope=user"), ("colour=red", 400, "colour", "it takes period"),
        ])
    func refusals(_ query: String, _ status: Int, _ field: String, _ message: String) async throws {
        let problem = try await Self.small().cached(query)
        #expect(problem["status"]?.integer == status)
        #expect(problem["errors"]?.elements.first?["field"]?.string == field)
        #expect(problem["detail"]?.string?.lowercased().contains(message) == true, "\(problem)")
    }

    @Test("a schema without a dashboard answers 404")
    func none() async throws {
        let answer = await (try TestAPI()).call("GET", "/v1/dashboard")
        #expect(answer.status == 404)
        #expect(answer.text.contains("declares no dashboard"))
    }
}
