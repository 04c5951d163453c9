import JSONText
import Testing

@testable import EntitySchema

@Suite("What a window includes")
struct WindowTests {
    private static let now = Timestamp(iso8601: "2026-11-21T10:42:00Z") ?? Timestamp(milliseconds: 0)

    private func schema(_ pull: String, account: Bool = true) throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  \(account ? "account: { path: /me, id: id }" : "")
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      status: { type: enum, values: { open: Open, ready: Ready, done: Done } }
                      number: { type: integer }
                      name: { type: string }
                      is_open: { type: boolean }
                      passcode: { type: string, secret: true }
                      sealed: { type: string, sealed: true }
                      title: { type: string, derive: { text: "{name}" } }
                      assigned_user_id: { type: string }
                      updated_at: { type: time }
                    pull:
                      path: /orders
                      \(pull)
                """, file: "shop.yaml")
    }

    private func includes(_ pull: String, _ record: String, account: String? = "u1") throws -> Bool? {
        let entity = try #require(schema(pull)["orders"])
        let window = try #require(entity.pull?.window)
        return try window.test(at: Self.now, account: account)?.holds(for: JSONText(parsing: record), of: entity)
    }

    @Test(
        "all conditions must hold: values, lists of values, times that move, and the account",
        arguments: [
            (#"{"status":"open","updated_at":"2026-11-21T10:00:00Z","assigned_user_id":"u1"}"#, true),
            (#"{"status":"done","updated_at":"2026-11-21T10:00:00Z","assigned_user_id":"u1"}"#, false),
            (#"{"status":"ready","updated_at":"2026-08-23T10:42:00Z","assigned_user_id":"u1"}"#, true),
            (#"{"status":"ready","updated_at":"2026-08-23T10:41:59Z","assigned_user_id":"u1"}"#, false),
            (#"{"status":"ready","updated_at":"2026-08-23T12:42:00+02:00","assigned_user_id":"u1"}"#, true),
            (#"{"status":"open","updated_at":"2026-11-21T10:00:00Z","assigned_user_id":"u2"}"#, false),
            (#"{"status":"open","updated_at":null,"assigned_user_id":"u1"}"#, false),
            (#"{"status":"open","assigned_user_id":"u1"}"#, false),
        ])
    func conditions(_ record: String, _ isInside: Bool) throws {
        let pull = #"where: { status: [open, ready], updated_at.gte: "{$now-90d}", assigned_user_id: "{$account}" }"#
        #expect(try includes(pull, record) == isInside)
    }

    @Test("a boolean may be written as 0 or 1")
    func booleans() throws {
        for (value, isOpen) in [("true", true), ("1", true), ("false", false), ("0", false), ("null", false)] {
            #expect(try includes("where: { is_open: true }", #"{"is_open":\#(value)}"#) == isOpen)
            #expect(try includes("where: { is_open.ne: true }", #"{"is_open":\#(value)}"#) == !isOpen)
        }
        #expect(try includes("where: { is_open: [false, null] }", #"{"is_open":0}"#) == true)
    }

    @Test("without a known account nothing is decided")
    func unknownAccount() throws {
        #expect(try includes(#"where: { assigned_user_id: "{$account}" }"#, "{}", account: nil) == nil)
    }

    @Test("a number is compared with a time in a format of numbers")
    func numbers() throws {
        let pull = #"where: { number.gt: "{$now-1h:epoch}" }"#
        #expect(try includes(pull, #"{"number":1795257720}"#) == true)
        #expect(try includes(pull, #"{"number":1795254120}"#) == false)
    }

    @Test("only a window with an upper bound that moves takes in records by time alone")
    func opens() throws {
        func opens(_ pull: String) throws -> Bool? { try schema(pull)["orders"]?.pull?.window?.opensWithTime }
        #expect(try opens(#"where: { updated_at.gte: "{$now-90d}" }"#) == false)
        #expect(try opens(#"where: { updated_at.lt: "{$now+7d}" }"#) == true)
        #expect(try opens("where: { updated_at.lt: 2026-01-01T00:00:00Z }") == false)
    }

    @Test("another account is another window only where the account counts")
    func definition() throws {
        let own = try #require(schema(#"where: { assigned_user_id: "{$account}" }"#)["orders"]?.pull?.window)
        func text(_ window: Window, _ account: String) -> String { WindowDefinition(of: window, account: account).text }
        #expect(text(own, "u1") != text(own, "u2"))
        let all = try #require(schema("where: { status: open }")["orders"]?.pull?.window)
        #expect(text(all, "u1") == text(all, "u2"))
    }

    @Test("the fields that it tests get an index")
    func indexes() throws {
        let entity = try #require(schema("where: { status: open }")["orders"])
        #expect(entity[field: "status"]?.indexed == true)
        #expect(entity[field: "name"]?.indexed == false)
    }

    @Test(
        "a wrong window is refused, with what is expected",
        arguments: [
            ("where: { sttus: open }", "no field sttus; did you mean status?"),
            ("where: { status: redy }", "redy is not a value of status; did you mean ready?"),
            ("where: { status: [open, redy] }", "redy is not a value of status; did you mean ready?"),
            ("where: { passcode: x }", "passcode is secret"),
            ("where: { sealed: x }", "sealed is sealed"),
            ("where: { title: x }", "title is computed here"),
            ("where: { updated_at: 2026-01-01T00:00:00Z }", "updated_at cannot be compared by value"),
            (#"where: { updated_at.gte: "{$nw-90d}" }"#, "{$nw-90d} cannot stand here"),
            (#"where: { updated_at.gte: "{$now-90d:epoch}" }"#, "expected a time"),
            ("where: { updated_at.gte: soon }", "expected a time"),
            ("where: { updated_at.gte: [2026-01-01, 2026-02-01] }", "expected one time"),
            (#"where: { number.gte: "{$now-90d}" }"#, "number holds numbers, so a time needs a format"),
            ("where: { name.gte: 1 }", "name cannot be compared by size; expected a field with numbers, times or days"),
            ("where: { updated_at.gt_e: 1 }", ".ne, .lt, .lte, .gt, .gte; did you mean .gte?"),
            (#"where: { assigned_user_id: "{$acount}" }"#, "did you mean $account?"),
            ("where: { assigned_user_id: $account }", "write it in braces"),
            (#"where: { name: "{$now}" }"#, "times are compared by size only"),
            (#"where: { status: "{$account}" }"#, "is not a value of status"),
            ("where: { status: [] }", "expected a value or a list of them"),
            ("where: {}", "expected a condition"),
            ("where: { status: open }\n      keep: referencd", "did you mean referenced?"),
            ("keep: referenced", "keep is only allowed with where"),
            ("wher: { status: open }", "did you mean where?"),
        ])
    func refused(_ pull: String, _ problem: String) {
        #expect {
            _ = try schema(pull)
        } throws: { error in
            "\(error)".contains(problem) && (error as? SchemaError)?.line ?? 0 > 0
        }
    }

    @Test("a window of one's own records needs an account")
    func needsAccount() {
        #expect {
            _ = try schema(#"where: { assigned_user_id: "{$account}" }"#, account: false)
        } throws: { error in
            "\(error)".contains("{$account} needs upstream.account")
        }
    }
}
