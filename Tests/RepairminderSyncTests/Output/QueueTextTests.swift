import ArgumentParser
import EntitySchema
import JSONText
import Testing

@testable import repairminder_sync

@Suite("Queue output and commands")
struct QueueTextTests {
    @Test("a sync that ended says what it has not sent")
    func unsent() throws {
        func said(_ pending: Int, _ failed: Int) throws -> String? {
            try SyncCommand.unsent(JSONText(parsing: #"{"pending":\#(pending),"failed":\#(failed)}"#))
        }
        #expect(try said(0, 0) == nil)
        #expect(try said(1, 0) == "1 change still waits: see repairminder-sync queue")
        #expect(try said(2, 1) == "2 changes still wait, 1 change failed: see repairminder-sync queue")
    }

    @Test("one change is shown with the request that will be sent, safe for a terminal")
    func change() throws {
        let change = try JSONText(
            parsing: """
                {"id":4,"state":"failed","operation":"update","entity":"orders","record_id":"ord_4bba","blocked_by":null,
                "retry_count":1,"error":{"class":"refused","status":422,"message":"no\\u001b[2J such"},
                "request":{"method":"PATCH","path":"/api/orders/ord_4bba","headers":{"Idempotency-Key":"k"},
                "body":{"total":129.90}}}
                """)
        #expect(
            QueueText.change(change) == """
                id               4
                state            failed
                operation        update
                entity           orders
                record id        ord_4bba
                retry count      1
                error            refused: no\\u001b[2J such

                    PATCH /api/orders/ord_4bba
                    Idempotency-Key: k

                    {"total":129.90}

                """)
    }

    @Test("the number of waiting changes is printed as it is")
    func count() throws {
        #expect(try QueueText.waiting(.object(["pending": 12, "failed": 1])) == "12\n")
    }

    @Test(
        "an answer that does not say how many changes wait is an unexpected one",
        arguments: ["{}", "[]", #"{"pending":null}"#, #"{"pending":"0"}"#, #"{"pending":-1}"#, #"{"pending":1.5}"#])
    func noCount(_ answer: String) throws {
        let answer = try JSONText(parsing: answer)
        let failure = #expect(throws: CommandFailure.self) { try QueueText.waiting(answer) }
        #expect(failure?.status == .internalError)
    }

    @Test("a change that no request of the schema sends is shown with its values")
    func unsendable() {
        let change: JSONText = .object(["id": 4, "request": .null, "body": .object(["notes": "hello"])])
        #expect(
            QueueText.change(change) == """
                id               4

                the schema defines no request for this change

                    {"notes":"hello"}

                """)
        #expect(QueueText.change(.object(["id": 4])).hasSuffix("\nthe schema defines no request for this change\n"))
    }

    @Test("people see when a change was made and sent, in local time")
    func times() throws {
        let change: JSONText = .object(["id": 4, "created_at": "2026-11-21T09:39:00.000Z"])
        let times = TimeText(now: try #require(Timestamp(iso8601: "2026-11-21T09:42:00Z"))) { _ in 3600 }
        #expect(QueueText.change(change, times).contains("created at       2026-11-21 10:39:00 (3 min ago)\n"))
        #expect(QueueText.change(change).contains("created at       2026-11-21T09:39:00.000Z\n"))
    }

    @Test("a retry says so when there was nothing to retry")
    func retried() {
        #expect(QueueText.retried("4", .object(["retried": 1])) == "retrying 4\n")
        #expect(QueueText.retried(nil, .object(["retried": 2])) == "retrying all failed changes\n")
        #expect(QueueText.retried(nil, .object(["retried": 0])) == "nothing to retry: no change has failed\n")
        let none = QueueText.retried("4", .object(["retried": 0]), flags: " --config a.yaml")
        #expect(
            none.hasPrefix("nothing to retry: 4 has not failed")
                && none.hasSuffix("see repairminder-sync queue 4 --config a.yaml\n"))
    }

    @Test("queue, queue show, queue ID and pending parse as expected")
    func names() throws {
        for arguments in [["queue"], ["queue", "show"], ["queue", "show", "4"], ["queue", "--json"]] {
            #expect(try RepairminderSync.parseAsRoot(arguments) is QueueCommand.Show)
        }
        #expect(try RepairminderSync.parseAsRoot(["pending"]) is PendingCommand)
        let edit = try RepairminderSync.parseAsRoot(["queue", "edit", "4", "total:=1.50", "--remove", "notes"])
        #expect((edit as? QueueCommand.Edit)?.fields == ["total:=1.50"])
        #expect((edit as? QueueCommand.Edit)?.remove == ["notes"])
    }
}
