import Foundation
import JSONText
import Testing

@testable import EntitySchema

@Suite("How two windows differ")
struct WindowDefinitionTests {
    private static let now = Timestamp(iso8601: "2026-11-21T10:42:00Z") ?? Timestamp(milliseconds: 0)
    private static let since = "since: { param: since, field: updated_at }"
    private static let newest = "mode: newest_first\n      changed_at: updated_at"

    private func plan(_ pull: String) throws -> PullPlan {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  account: { path: /me, id: id }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      status: { type: string }
                      number: { type: integer }
                      user: { type: string }
                      day: { type: date }
                      created_at: { type: time }
                      updated_at: { type: time }
                    pull:
                      path: /orders
                      \(pull)
                """, file: "shop.yaml")
        return try #require(schema["orders"]?.pull)
    }

    private func definition(_ test: String, account: String? = "u1") throws -> WindowDefinition {
        WindowDefinition(of: try #require(plan("where: \(test)").window), account: account)
    }

    @Test(
        "a definition is read from its text",
        arguments: [
            #"{ status: [open, null, "say \"hi\", (a.b)"], created_at.gte: "{$now-90d}" }"#,
            #"[{ status.ne: done }, { user: "{$account}", number.lt: 5 }]"#,
        ])
    func stored(_ test: String) throws {
        var definition = try definition(test)
        definition.returns = 2
        #expect(WindowDefinition(text: definition.text) == definition)
    }

    @Test(
        "the text of an older version is no definition",
        arguments: [#"status ["open"]"#, "{}", #"{"where":[[["a.b",[]]]]}"#])
    func old(_ text: String) {
        #expect(WindowDefinition(text: text) == nil)
    }

    @Test(
        "a window is inside another one where its conditions say so",
        arguments: [
            (#"{ created_at.gte: "{$now-30d}" }"#, #"{ created_at.gte: "{$now-90d}" }"#, true),
            (#"{ created_at.gte: "{$now-90d}" }"#, #"{ created_at.gte: "{$now-30d}" }"#, false),
            (#"{ created_at.gt: "{$now-90d}" }"#, #"{ created_at.gte: "{$now-90d}" }"#, true),
            (#"{ created_at.gte: "{$now-90d}" }"#, #"{ created_at.gt: "{$now-90d}" }"#, false),
            ("{ created_at.gte: 2026-11-01T00:00:00Z }", #"{ created_at.gte: "{$now-30d}" }"#, true),
            ("{ created_at.gte: 2026-10-01T00:00:00Z }", #"{ created_at.gte: "{$now-30d}" }"#, false),
            (#"{ day.gte: "{$now-3d:date}" }"#, #"{ day.gte: "{$now-9d:date}" }"#, true),
            ("{ number.lte: 10 }", "{ number.lt: 11 }", true),
            ("{ number.lte: 11 }", "{ number.lt: 11 }", false),
            ("{ number.gte: 9 }", "{ number.gte: 10 }", false),
            (#"{ number.gte: "{$now-1d:epoch}" }"#, #"{ number.gte: "{$now-2d:epoch}" }"#, true),
            ("{ number.gte: 5 }", "{ number.lte: 5 }", false),
            ("{ status: open }", "{ status: [open, ready] }", true),
            ("{ status: [open, late] }", "{ status: [open, ready] }", false),
            ("{ status.ne: [done, void] }", "{ status.ne: done }", true),
            ("{ status: open }", "{ status.ne: done }", true),
            ("{ status: [open, done] }", "{ status.ne: done }", false),
            (#"{ status: open, number.gt: 1 }"#, "{ status: open }", true),
            ("{ status: open }", "{ status: open, number.gt: 1 }", false),
            ("[{ status: open }, { number.gt: 5 }]", "[{ number.gt: 1 }, { status: [open, ready] }]", true),
            ("[{ status: open }, { number.gt: 0 }]", "[{ number.gt: 1 }, { status: open }]", false),
        ])
    func inside(_ inner: String, _ outer: String, _ isInside: Bool) throws {
        #expect(try definition(inner).isInside(definition(outer), at: Self.now) == isInside)
    }

    @Test("neither another account nor a time that went back is inside")
    func others() throws {
        let own = #"{ user: "{$account}" }"#
        let first = try definition(own)
        #expect(first.isInside(first, at: Self.now))
        #expect(try !definition(own, account: "u2").isInside(first, at: Self.now))
        #expect(try !definition(own, account: nil).isInside(first, at: Self.now))
        var returned = first
        returned.returns = 1
        #expect(!returned.isInside(first, at: Self.now))
    }

    @Test("windows that differ in one lower bound differ below the old one")
    func bound() throws {
        func bound(_ new: String, _ old: String) throws -> String? {
            try definition(new).bound(of: definition(old), at: Self.now)
        }
        #expect(
            try bound(#"{ created_at.gte: "{$now-90d}" }"#, #"{ created_at.gte: "{$now-1h}" }"#)
                == "2026-11-21T09:42:00.000Z")
        #expect(try bound("{ number.gt: 5, status: open }", "{ status: open, number.gte: 10 }") == "10")
        #expect(try bound("{ number.gt: 5, status: open }", "{ number.gte: 10 }") == nil)
        #expect(try bound("{ number.gt: 5, status: open }", "{ number.gte: 10, status: late }") == nil)
        #expect(try bound("{ number.lt: 50 }", "{ number.lt: 10 }") == nil)
        #expect(try bound("[{ number.gt: 5 }, { status: open }]", "[{ number.gt: 10 }, { status: open }]") == nil)
    }

    @Test(
        "what is asked for includes the old bound, whatever the form of the time",
        arguments: [
            ("{$until}", "2026-11-21T09:42:00Z", "2026-11-21T09:42:01.000Z"),
            ("{$until:epoch}", "2026-11-21T09:42:00Z", "1795254121"),
            ("{$until:yyyy-MM-dd HH:mm}", "2026-11-21T09:42:30Z", "2026-11-21 09:43"),
            ("{$until:date}", "2026-11-21T09:42:00Z", "2026-11-22"),
            ("{$until:date}", "2026-11-21", "2026-11-23"),
            ("{$until}", "1000", "1001"), ("{$until}", "1000.5", nil),
        ])
    func asked(_ template: String, _ bound: String, _ sent: String?) throws {
        let plan = try plan(
            """
            since: { param: since, field: updated_at }
                  query: { before: "\(template)" }
                  where: { created_at.gte: "{$now-90d}" }
            """)
        #expect(plan.readsUntil)
        let path = plan.until(bound).flatMap { until in
            plan.request(of: "orders", until: until).request.path.removingPercentEncoding
        }
        #expect(path == sent.map { "/orders?before=\($0)" })
        #expect(plan.request(of: "orders").request.path == "/orders")
    }

    @Test(
        "a bound that has nothing to stand for is refused",
        arguments: [
            ("", "where: { created_at.gte: \"{$now-9d}\" }", "is always read whole"),
            (Self.newest, "where: { created_at.lt: \"{$now-9d}\" }", "exactly one"),
            (Self.since, "where: { created_at.gte: \"{$now-9d}\", number.gt: 5 }", "such as created_at.gte"),
            (Self.since, "where: [{ number.gt: 5 }, { status: open }]", "no alternatives"),
            (Self.since, "where: { number.gt: 5, created_at.lt: \"{$now-9d}\" }", "is always read whole"),
            (Self.since, "changed_at: updated_at", "{$until} cannot stand here"),
        ])
    func refused(_ mode: String, _ test: String, _ problem: String) {
        refuse("query: { before: \"{$until}\" }\n      \(mode)\n      \(test)", problem)
    }

    @Test("a bound needs a parameter of its own")
    func alone() {
        let test = "where: { created_at.gte: \"{$now-9d}\" }\n      \(Self.since)"
        refuse("query: { q: \"from {$now-9d} to {$until}\" }\n      \(test)", "parameter or member of its own")
    }

    private func refuse(_ pull: String, _ problem: String) {
        #expect {
            _ = try plan(pull)
        } throws: { error in
            "\(error)".contains(problem) && (error as? SchemaError)?.line ?? 0 > 0
        }
    }
}
