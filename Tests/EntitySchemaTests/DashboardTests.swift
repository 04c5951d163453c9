import Foundation
import TestSupport
import Testing

@testable import EntitySchema

@Suite("The dashboard in a schema")
struct DashboardTests {
    private static let shop = """
        schema: shop
        upstream:
          base_url: http://localhost
        entities:
          sales:
            fields:
              id: { type: string }
              state: { type: enum, values: { open: Open, paid: Paid } }
              amount: { type: money }
              buyer: { type: string, index: true }
              clerk: { type: string }
              code: { type: string, secret: true }
              at: { type: time, index: true }
              ended_at: { type: time }
            pull: { path: /sales }
        dashboard:
          path: /stats
          figures:
            sales: { of: sales, at: at, where: { state: [open, paid] }, user: clerk }
            takings: { of: sales, at: at, sum: amount, decimals: 3, unless: { state: open } }
            buyers: { of: sales, at: at, distinct: buyer }
            old: { of: sales, at: at, distinct: buyer, seen: again }
        """

    @Test("figures are read in the order of the file, with measure and conditions")
    func reading() throws {
        let plan = try #require(try EntitySchema(yaml: Self.shop, file: "shop.yaml").dashboard)
        #expect(plan.path == "/stats")
        #expect(plan.figures.map(\.name) == ["sales", "takings", "buyers", "old"])
        #expect(
            plan.figures.map(\.measure) == [
                .count, .sum(field: "amount", decimals: 3), .distinct(field: "buyer", seen: nil),
                .distinct(field: "buyer", seen: .again),
            ])
        #expect(
            plan.figures[0].conditions == [
                Condition(field: "state", values: ["open", "paid"], excluded: false)
            ])
        #expect(
            plan.figures[1].conditions == [Condition(field: "state", values: ["open"], excluded: true)])
        #expect(plan.figures.map(\.user) == ["clerk", nil, nil, nil])
    }

    @Test(
        "an invalid figure is rejected with its key and what was expected",
        arguments: [
            ("sales: { of: sales,", "sales: { of: sale,", "sales.of", "did you mean sales?"),
            ("sales: { of", "until: { of", "until", "member of the dashboard's response"),
            ("at: at, where", "at: ended_at, where", "sales.at", "index: true"),
            ("at: at, where", "at: buyer, where", "sales.at", "type time"),
            ("at: at, where", "where", "sales", "the key at is missing"),
            ("[open, paid]", "[open, paied]", "sales.where.state", "did you mean paid?"),
            ("[open, paid]", "[]", "sales.where.state", "expected a value"),
            ("where: { state", "where: { stat", "sales.where.stat", "did you mean state?"),
            ("user: clerk", "user: clrk", "sales.user", "did you mean clerk?"),
            ("user: clerk", "user: code", "sales.user", "secret"),
            ("sum: amount", "sum: buyer", "takings.sum", "cannot be summed"),
            ("decimals: 3", "decimals: 10", "takings.decimals", "from 0 to 9"),
            ("sum: amount, decimals: 3", "decimals: 3", "takings.decimals", "needs sum"),
            ("sum: amount,", "sum: amount, distinct: buyer,", "takings.distinct", "not both"),
            ("distinct: buyer }", "distinct: amount }", "buyers.distinct", "compared by value"),
            ("distinct: buyer }", "seen: first }", "buyers.seen", "needs distinct"),
            ("distinct: buyer, seen", "distinct: clerk, seen", "old.distinct", "index: true"),
            ("seen: again", "seen: twice", "old.seen", "first"),
            ("old: {", "old: { colour: red,", "old.colour", "unknown key"),
        ])
    func refuses(_ found: String, _ replacement: String, _ key: String, _ message: String) {
        #expect {
            try EntitySchema(yaml: Self.shop.replacing(found, with: replacement), file: "shop.yaml")
        } throws: { error in
            guard let error = error as? SchemaError else { return false }
            return error.key == "dashboard.figures.\(key)" && error.line > 15 && error.problem.contains(message)
        }
    }

    @Test("a dashboard without figures is rejected")
    func nothing() {
        let yaml = Self.shop.prefix(upTo: Self.shop.firstRange(of: "    sales: {")?.lowerBound ?? Self.shop.endIndex)
        #expect(throws: SchemaError.self) { try EntitySchema(yaml: yaml + "    {}", file: "shop.yaml") }
    }

    @Test("both Repair Minder schemas declare the app's figures; the live one has refunds besides")
    func shipped() throws {
        let five = ["devices", "revenue", "clients", "new_clients", "returning_clients"]
        #expect(try ProjectFiles.schema("repairminder").dashboard?.figures.map(\.name) == five)
        let live = try ProjectFiles.schema("repairminder-live").dashboard
        #expect(live?.figures.map(\.name) == five + ["refunds"])
        #expect(live?.figures.last?.isCounted == true && live?.figures.last?.user == "order.assigned_user_id")
    }
}
