import JSONText
import Testing

@testable import EntitySchema

@Suite("Defaults")
struct DefaultTests {
    private func field(_ field: String, account: String = "{ path: /me, id: id }") throws -> Field? {
        let schema = try EntitySchema(
            yaml: """
                schema: shop
                upstream: { base_url: "http://localhost", account: \(account) }
                entities:
                  clients:
                    fields: { id: { type: string }, name: { type: string }, pin: { type: string, secret: true } }
                    pull: { path: /clients }
                  orders:
                    fields:
                      id: { type: string }
                      client_id: { type: reference, to: clients }
                      shown: \(field)
                    pull: { path: /orders }
                    push: { create: { call: POST /orders, fields: [shown] } }
                """, file: "shop.yaml")
        return schema["orders"]?[field: "shown"]
    }

    @Test(
        "a default has the field's type",
        arguments: [
            ("{ type: boolean, default: false }", "false"), ("{ type: integer, default: 0 }", "0"),
            ("{ type: money, default: 0.50 }", "0.50"), ("{ type: list, default: [] }", "[]"),
            ("{ type: string, default: new }", #""new""#),
            ("{ type: enum, values: { open: Open }, default: open }", #""open""#),
            (#"{ type: time, default: "2026-01-02T03:04:05Z" }"#, #""2026-01-02T03:04:05Z""#),
        ])
    func types(_ yaml: String, _ expected: String) throws {
        #expect(try field(yaml)?.initial == FieldDefault(value: .value(JSONText(parsing: expected))))
    }

    @Test("a default may be the time of the creation, a text of other records, and sent")
    func others() throws {
        #expect(try field("{ type: time, default: now }")?.initial?.value == .now)
        #expect(try field("{ type: time, touch: now }")?.isTouched == true)
        #expect(try field("{ type: boolean, default: { value: false, send: true } }")?.initial?.isSent == true)
        let text = try field(#"{ type: string, default: "{client.name}" }"#)?.initial?.value
        #expect(text == TextPattern("{client.name}").map(FieldDefault.Value.text))
    }

    @Test(
        "a wrong default is refused, with what is expected",
        arguments: [
            ("{ type: boolean, default: maybe }", "expected true or false"),
            ("{ type: enum, values: { open: Open }, default: opne }", "opne is not a value of shown"),
            ("{ type: time, default: today }", "expected now or a time"),
            ("{ type: object, default: {} }", "the key value is missing"),
            ("{ type: string, touch: now }", "only a field of type time"),
            ("{ type: string, secret: true, default: x }", "secret cannot be combined with default"),
            ("{ type: string, required: true, default: x }", "required cannot be combined with default"),
            (#"{ type: string, default: "{cleint.name}" }"#, "refers to no record as cleint; did you mean client?"),
            (#"{ type: string, default: "{client.nme}" }"#, "clients has no field nme; did you mean name?"),
            (#"{ type: string, default: "{client.pin}" }"#, "pin is secret"),
            (#"{ type: string, default: "{$account.name}" }"#, "needs upstream.account.name"),
        ])
    func refused(_ yaml: String, _ problem: String) {
        #expect {
            _ = try field(yaml)
        } throws: { error in
            "\(error)".contains(problem)
        }
    }

    @Test("the name of the account may be made of several places")
    func accountName() throws {
        let account = #"{ path: /me, id: id, name: "{data.first} {data.last}" }"#
        let field = try field(#"{ type: string, default: "{$account.name}" }"#, account: account)
        #expect(field?.initial != nil)
    }
}
