import JSONText
import SQLiteStore
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("References between new records of a batch")
struct BatchReferenceTests {
    private static let client = #"{"operation":"create","entity":"clients","lid":"ada","body":{"name":"Ada"}}"#

    @Test("a lid stands for the new record's key, in fields and as the id of an operation")
    func resolved() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            Self.client,
            #"{"operation":"create","entity":"orders","lid":"o","body":{"client_id":{"lid":"ada"}}}"#,
            #"{"operation":"create","entity":"messages","body":{"order_id":{"lid":"o"},"text":"t"}}"#,
            #"{"operation":"update","entity":"orders","id":{"lid":"o"},"body":{"notes":"n"}}"#,
            #"{"operation":"update","entity":"orders","id":"a","body":{"client_id":{"lid":"ada"}}}"#,
        ])
        #expect(answer.statuses == [201, 201, 201, 200, 200])
        let (client, order) = (answer.results[0]["id"], answer.results[1]["id"])
        #expect(client != nil && answer.results[1]["record"]?["client_id"] == client)
        #expect(answer.results[2]["record"]?["order_id"] == order)
        #expect(answer.results[3]["id"] == order && answer.results[4]["record"]?["client_id"] == client)
        // The queue sends the client before the orders, and these before the message.
        #expect(
            try api.store.readyChanges(limit: 9, at: TestAPI.now).map(\.entity) == ["clients"])
    }

    @Test("a new record's key keeps its type in the records that refer to it")
    func numbers() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            #"{"operation":"create","entity":"shops","lid":"s","body":{"id":7}}"#,
            #"{"operation":"create","entity":"orders","body":{"shop_id":{"lid":"s"}}}"#,
        ])
        #expect(answer.results.last?["record"]?["shop_id"]?.text == "7")
    }

    @Test("an object that only looks like a reference is a value where the field is none")
    func values() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            Self.client, #"{"operation":"update","entity":"orders","id":"a","body":{"extra":{"lid":"ada"}}}"#,
        ])
        #expect(answer.results.last?["record"]?["extra"]?.text == #"{"lid":"ada"}"#)
    }

    @Test(
        "an unknown, later, repeated or foreign lid is refused with its pointer, and nothing is done",
        arguments: [
            (
                #"{"operation":"create","entity":"orders","body":{"client_id":{"lid":"x"}}}"#,
                "/operations/1/body/client_id"
            ),
            (
                #"{"operation":"create","entity":"messages","body":{"order_id":{"lid":"ada"},"text":"t"}}"#,
                "/operations/1/body/order_id"
            ),
            (#"{"operation":"update","entity":"orders","id":{"lid":"later"},"body":{}}"#, "/operations/1/id"),
            (#"{"operation":"create","entity":"clients","lid":"ada","body":{"name":"B"}}"#, "/operations/1/lid"),
        ])
    func unknown(_ operation: String, _ pointer: String) async throws {
        let api = try await BatchShop.filled()
        let later = #"{"operation":"create","entity":"orders","lid":"later","body":{}}"#
        for more in ["", #","atomic":false"#] {
            let answer = await api.batch([Self.client, operation, later], more: more)
            #expect(answer.status == 400 && answer.json["code"] == "invalid_body")
            #expect(answer.pointers == [pointer])
        }
        #expect(try api.queue().isEmpty)
    }

    @Test("what refers to a record whose creation was refused gets 424, and what refers to that too")
    func failed() async throws {
        let api = try await BatchShop.filled()
        let operations = [
            #"{"operation":"create","entity":"clients","lid":"ada","body":{}}"#,
            #"{"operation":"create","entity":"orders","lid":"o","body":{"client_id":{"lid":"ada"}}}"#,
            #"{"operation":"update","entity":"orders","id":{"lid":"o"},"body":{"notes":"n"}}"#,
            #"{"operation":"update","entity":"orders","id":"a","body":{"notes":"n"}}"#,
        ]
        let answer = await api.batch(operations, more: #","atomic":false"#)
        #expect(answer.statuses == [422, 424, 424, 200])
        #expect(answer.results[1]["problem"]?["code"] == "failed_dependency")
        // They are no mistakes of their own.
        #expect(await api.batch(operations).pointers == ["/operations/0/body/name"])
    }
}
