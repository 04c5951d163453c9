import JSONText
import Testing

@testable import repairminder_sync

@Suite struct FeedPlanTests {
    private static let settings = FeedSettings(target: "postgresql:///x", schemaName: "s\"x", instance: "a")

    private static func entity() throws -> FeedEntity {
        let text = #"{"name": "orders", "key": "id", "fields": [{"name": "id"}, {"name": "total", "type": "money"}]}"#
        return try #require(FeedEntity(try JSONText(parsing: text)))
    }

    private static let known: [String?] = ["orders", "orders", "id", "f"]
    private static let columns: [[String?]] = [["orders", "total", "numeric", "total"]]

    @Test("a complete table needs nothing")
    func complete() throws {
        let plan = FeedPlan(
            try Self.entity(), known: Self.known, columns: Self.columns,
            existing: ["instance", "id", "record", "total"], Self.settings)
        #expect(!plan.isIncomplete && plan.obstacle == nil && plan.news.isEmpty && !plan.restores)
    }

    @Test("a table that is not there is made, also one that someone has dropped")
    func missing() throws {
        for known in [nil, Self.known] {
            let plan = FeedPlan(try Self.entity(), known: known, columns: Self.columns, existing: [], Self.settings)
            #expect(plan.isNew && plan.added.map(\.name) == ["total"] && plan.obstacle == nil && plan.restores)
        }
    }

    @Test("a column that someone has dropped is made again, and said")
    func missingColumn() throws {
        let plan = FeedPlan(
            try Self.entity(), known: Self.known, columns: Self.columns, existing: ["instance", "id", "record"],
            Self.settings)
        #expect(!plan.isNew && plan.added.map(\.name) == ["total"] && plan.restores)
        #expect(plan.news == ["orders has a new column total (numeric)"])
    }

    @Test("a column of a new field makes nothing again")
    func newColumn() throws {
        let plan = FeedPlan(
            try Self.entity(), known: Self.known, columns: [], existing: ["instance", "id", "record"], Self.settings)
        #expect(plan.isIncomplete && !plan.restores)
    }

    @Test("a table of someone else, or of the other kind, is left alone")
    func obstacles() throws {
        let foreign = FeedPlan(try Self.entity(), known: nil, columns: [], existing: ["x"], Self.settings)
        #expect(foreign.obstacle?.contains("not a table of the feed") == true)
        var history = Self.settings
        history.keepsHistory = true
        let other = FeedPlan(
            try Self.entity(), known: Self.known, columns: Self.columns, existing: ["id", "total"], history)
        #expect(other.obstacle?.contains("feed it without --history") == true)
    }

    @Test("no value and no raw name is in a statement")
    func statements() throws {
        let plan = FeedPlan(try Self.entity(), known: nil, columns: [], existing: [], Self.settings)
        let statements = plan.statements
        #expect(statements.creation.count == 1)
        #expect(statements.adding(plan.added[0]) == #"ALTER TABLE "s""x"."orders" ADD COLUMN "total" numeric"#)
        #expect(statements.merge.count == 1)
        #expect(statements.merge[0].contains("unnest($2::text[], $3::timestamptz[], $4::numeric[], $5::jsonb[])"))
        #expect(statements.removal.hasPrefix(#"DELETE FROM "s""x"."orders""#))
    }

    @Test("with history nothing is deleted")
    func history() throws {
        var settings = Self.settings
        settings.keepsHistory = true
        let statements = FeedPlan(try Self.entity(), known: nil, columns: [], existing: [], settings).statements
        let all = statements.merge + [statements.removal, statements.removalOfUnseen]
        #expect(statements.creation.count == 2 && all.count == 5)
        #expect(!all.contains { $0.contains("DELETE") })
    }
}
