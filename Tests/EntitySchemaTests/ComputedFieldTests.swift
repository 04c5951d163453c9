import JSONText
import Testing

@testable import EntitySchema

@Suite("Fields computed from a record's own fields")
struct ComputedFieldTests {
    private func entity(_ field: String, push: String = "") throws -> Entity {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost" }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      first: { type: string }
                      last: { type: string }
                      number: { type: integer }
                      balance: { type: money }
                      status: { type: enum, values: { open: Open, ready: Ready, done: Done } }
                      shown: \(field)
                    pull: { path: /orders }\(push)
                """, file: "shop.yaml")
        return try #require(schema["orders"])
    }

    @Test("a text out of which NUL was left has no more marks in a row than a record may have")
    func marks() {
        let text = TextPattern("{first}")?.text { _ in "a" + String(repeating: "\u{301}\0", count: 1000) }
        #expect(text.map { MarkRun.areShort(in: $0, upTo: MarkRun.longestUpstream) } == true)
    }

    @Test("no request has one, also where the route takes any field")
    func unsent() throws {
        let orders = try entity(
            #"{ type: string, derive: { text: "{first}" } }"#,
            push: "\n    push: { create: { call: POST /orders }, update: { call: 'PATCH /orders/{id}' } }")
        for operation in [Operation.create, .update] {
            #expect(orders.canSend("first", by: operation))
            #expect(!orders.canSend("shown", by: operation))
        }
        let record = JSONText.object(["id": "a"])
        #expect(!orders.hasRoute(for: .update, record: record, fields: ["first", "shown"]))
        let (parts, unsendable) = orders.parts(of: [("first", "x"), ("shown", "y")], record: record)
        #expect(parts.map { $0.map(\.key) } == [["first"]] && unsendable == "shown")
    }

    private func value(_ field: String, _ record: String) throws -> JSONText? {
        try entity(field).value(of: "shown", in: JSONText(parsing: record))
    }

    @Test(
        "a text leaves out what is missing, and is null without any value",
        arguments: [
            (#"{"first":"Ada","last":"Byron"}"#, #""Ada Byron""#), (#"{"last":"Byron"}"#, #""Byron""#),
            (#"{"first":"","last":null}"#, "null"), (#"{"first":" Ada ","last":"B"}"#, #""Ada B""#),
            (#"{"first":"Ada  K.","last":"B"}"#, #""Ada K. B""#), (#"{"first":"A\u0000da","last":"B "}"#, #""Ada B""#),
        ])
    func text(_ record: String, _ expected: String) throws {
        #expect(try value(#"{ type: string, derive: { text: "{first} {last}" } }"#, record)?.text == expected)
    }

    @Test(
        "of several texts the first with a value counts, and letters become capitals",
        arguments: [
            (#"{"first":"ada","last":"byron"}"#, #""AB""#), (#"{"first":"ada"}"#, #""A""#),
            (#"{"status":"open"}"#, #""OP""#), ("{}", "null"),
        ])
    func texts(_ record: String, _ expected: String) throws {
        let field = #"{ type: string, derive: { text: ["{first:1}{last:1}", "{status:2}"] } }"#
        #expect(try value(field, record)?.text == expected)
    }

    @Test(
        "a test compares amounts exactly, and asks for missing values with null",
        arguments: [
            (#"{"balance":0.00}"#, true), (#"{"balance":"-0.01"}"#, true),
            (#"{"balance":0.000000000000000001}"#, false),
            (#"{"balance":null}"#, true), ("{}", true), (#"{"balance":"much"}"#, false), (#"{"balance":-1e2}"#, true),
        ])
    func amounts(_ record: String, _ isPaid: Bool) throws {
        let field = "{ type: boolean, derive: { is: [{ balance: null }, { balance.lte: 0 }] } }"
        #expect(try value(field, record) == .boolean(isPaid))
    }

    @Test(
        "all conditions of a mapping must hold",
        arguments: [
            (#"{"status":"open","number":3}"#, true), (#"{"status":"done","number":3}"#, false),
            (#"{"status":"open","number":2}"#, false), (#"{"number":3}"#, true),
        ])
    func mapping(_ record: String, _ holds: Bool) throws {
        let field = "{ type: boolean, derive: { is: { status.ne: [done, ready], number.gt: 2, number.lt: 10 } } }"
        #expect(try value(field, record) == .boolean(holds))
    }

    @Test("a value that the server sends counts")
    func fromServer() throws {
        let field = #"{ type: string, derive: { text: "{first} {last}" } }"#
        #expect(try value(field, #"{"first":"Ada","shown":"Countess"}"#) == "Countess")
    }

    @Test(
        "a wrong test or text is refused, with what is expected",
        arguments: [
            ("{ type: boolean, derive: { is: { sttus: open } } }", "no field sttus; did you mean status?"),
            (
                "{ type: boolean, derive: { is: { status: redy } } }",
                "redy is not a value of status; did you mean ready?"
            ),
            ("{ type: boolean, derive: { is: { first.lt: 1 } } }", "cannot be compared by size"),
            ("{ type: boolean, derive: { is: { balance.lt: much } } }", "expected a number"),
            ("{ type: boolean, derive: { is: { balance.like: 1 } } }", ".ne, .lt, .lte, .gt, .gte"),
            ("{ type: string, derive: { is: { status: open } } }", "is needs a field of type boolean"),
            ("{ type: boolean, derive: { is: [] } }", "expected a condition"),
            (#"{ type: string, derive: { text: "{first:0}" } }"#, "number of letters"),
            (#"{ type: string, derive: { text: "{first}", where: { status: open } } }"#, "where is only allowed"),
        ])
    func refused(_ field: String, _ problem: String) {
        #expect {
            _ = try entity(field)
        } throws: { error in
            "\(error)".contains(problem)
        }
    }
}
