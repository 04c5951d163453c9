import ArgumentParser
import JSONText
import LocalAPI
import Synchronization
import Testing

@testable import repairminder_sync

@Suite struct RecordCommandTests {
    @Test("--wait takes seconds, 10 without, on set, create and delete")
    func waiting() throws {
        let set = try #require(
            try RepairminderSync.parseAsRoot(["set", "orders", "a", "b=c", "--wait"]) as? SetCommand)
        #expect(set.waiting.query.map(\.value) == ["pushed", "10"])
        let create = try RepairminderSync.parseAsRoot(["create", "orders", "b=c", "--wait", "5"]) as? CreateCommand
        #expect(create?.waiting.wait == 5)
        let delete = try RepairminderSync.parseAsRoot(["delete", "orders", "a", "--wait=60"]) as? DeleteCommand
        #expect(delete?.waiting.wait == 60)
        let none = try RepairminderSync.parseAsRoot(["delete", "orders", "a"]) as? DeleteCommand
        #expect(none?.waiting.query.isEmpty == true)
        for seconds in ["0", "61", "x"] {
            #expect(throws: (any Error).self) {
                try RepairminderSync.parseAsRoot(["delete", "orders", "a", "--wait", seconds])
            }
        }
    }

    @Test(
        "a write that the upstream does not have ends with 65 when that is final, else with 75",
        arguments: [("failed", 65), ("discarded", 65), ("pending", 75), ("blocked", 75), ("conflict", 75)]
            as [(String, Int32)])
    func unconfirmed(_ state: String, _ status: Int32) throws {
        let body = try JSONText(parsing: #"{"_sync": {"push": {"state": "\#(state)", "changes": [7]}}}"#)
        let options = try ConnectionOptions.parse(["--config", "/srv/my shop.yaml"])
        let failure = #expect(throws: CommandFailure.self) {
            try WaitOption.requireConfirmed(LocalAPIClient.Answer(status: 202, body: body), options)
        }
        #expect(failure?.status.rawValue == status && failure?.message.contains("change 7 is \(state)") == true)
        #expect(failure?.message.hasSuffix("queue 7 --config '/srv/my shop.yaml'") == true)
        try WaitOption.requireConfirmed(LocalAPIClient.Answer(status: 200, body: body), options)
    }

    @Test("revealing where no field is secret says so")
    func nothingSecret() async {
        let problem = LocalAPIProblem(
            status: 400, title: "x", detail: "this address has no parameter reveal",
            errors: [.init(field: "reveal", message: "x")], code: "unknown_parameter")
        await #expect {
            try await GetCommand.explaining("orders") { () throws(LocalAPIError) in throw .problem(problem) }
        } throws: { error in
            (error as? CommandFailure)?.message == "orders has no secret fields, so leave --reveal out"
        }
    }

    @Test("creating what exists ends with 65, and correcting a change that may have arrived with 75")
    func lastingConflicts() async {
        let problem = LocalAPIProblem(status: 409, title: "x", detail: "orders/a already exists", code: "conflict")
        for (ofQueue, expected) in [(false, CommandStatus.badData), (true, .temporaryFailure)] {
            await #expect {
                try await RecordWriting.explaining(ofQueue: ofQueue) { () throws(LocalAPIError) in
                    throw .problem(problem)
                }
            } throws: { error in
                (error as? CommandFailure)?.status == expected
            }
        }
    }

    @Test("undoing what is undone or not decided ends with 65: trying again is of no use")
    func undoing() async {
        for (status, expected) in [(409, CommandStatus.badData), (503, .temporaryFailure)] {
            let problem = LocalAPIProblem(status: status, title: "x", detail: "conflict 1 is already undone")
            await #expect {
                try await RecordWriting.explaining { () throws(LocalAPIError) in throw .problem(problem) }
            } throws: { error in
                let failure = error as? CommandFailure
                return failure?.status == expected && failure?.message == "conflict 1 is already undone"
            }
        }
    }

    @Test(
        "resolving a conflict that is decided ends with 65, and one whose change is being sent with 75",
        arguments: [("conflict", CommandStatus.badData), ("busy", .temporaryFailure)])
    func resolving(code: String, expected: CommandStatus) async {
        let problem = LocalAPIProblem(status: 409, title: "Conflict", code: code)
        let failure = await #expect(throws: CommandFailure.self) {
            try await RecordWriting.explaining { () throws(LocalAPIError) in throw .problem(problem) }
        }
        #expect(failure?.status == expected)
    }

    @Test("before a write the upstream is asked for a record that is not cached; if it cannot be, the status is 75")
    func uncachedRecord() async throws {
        let targets = Mutex<[String]>([])
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            targets.withLock { $0.append(request.target) }
            switch request.target {
            case "/v1/schema/orders":
                return LocalAPIResponse(status: 200, body: Array(#"{"key":"id","fields":[]}"#.utf8))
            case "/v1/orders/old": return LocalAPIResponse(status: 200, body: Array(#"{"id":"old"}"#.utf8))
            default:
                let problem = #"{"title":"Not found","detail":"not in the cache","code":"not_cached"}"#
                return LocalAPIResponse(status: 404, body: Array(problem.utf8))
            }
        }
        #expect(try await RecordID.keyToWrite("old", in: "orders", client) == "old")
        #expect(targets.withLock { $0.last } == "/v1/orders/old")
        let failure = await #expect(throws: CommandFailure.self) {
            try await RecordID.keyToWrite("none", in: "orders", client)
        }
        #expect(failure?.status == .temporaryFailure)
    }

    @Test("a number may have a # in front, as people write it", arguments: ["1486", "#1486"])
    func numberWithSign(_ id: String) async throws {
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            let shape = #"{"key":"id","fields":[{"name":"number","natural":true}]}"#
            if request.target == "/v1/schema/orders" { return LocalAPIResponse(status: 200, body: Array(shape.utf8)) }
            let path = String(request.target.prefix { $0 != "?" })
            guard path.hasPrefix("/v1/orders/number"), path.hasSuffix("1486"), !path.contains("%23") else {
                let problem = #"{"title":"Not found","detail":"not in the cache","code":"not_cached"}"#
                return LocalAPIResponse(status: 404, body: Array(problem.utf8))
            }
            return LocalAPIResponse(status: 200, body: Array(#"{"id":"a"}"#.utf8))
        }
        #expect(try await RecordID.key(of: id, in: "orders", client) == "a")
    }

    @Test("a snoozed reminder is shown with the time at which it comes again")
    func snoozedReminder() throws {
        let reminder = try JSONText(
            parsing: #"""
                {"id":3,"entity":"tasks","record_id":"a","text":"Boiler","due_at":"2026-11-21T09:00:00.000Z",
                "state":"snoozed","snoozed_until":"2026-11-22T09:00:00.000Z"}
                """#)
        let table = try RemindersCommand.table([reminder]).only(["id", "snoozed_until"])
        #expect(table.rows == [["3", "2026-11-22T09:00:00.000Z"]])
    }

    @Test("a parked delivery is shown with the id that --parked takes, and with its reason")
    func parkedDeliveries() throws {
        let parked = try JSONText(
            parsing: #"""
                {"id":3,"event":"changed","seq":7,"entity":"orders","record_id":"a","change_id":null,"attempts":2,
                "reason":"print exited with status 3","parked_at":"2026-11-21T10:42:00.000Z"}
                """#)
        #expect(
            HooksCommand.parkedTable([parked]).rows == [
                ["3", "2026-11-21T10:42:00.000Z", "changed", "orders", "a", "2", "print exited with status 3"]
            ])
        #expect(throws: (any Error).self) { try RepairminderSync.parseAsRoot(["hooks", "label", "--pause", "label"]) }
    }

    @Test("a search that reaches its limit says that there may be more")
    func fullSearch() throws {
        let two = try JSONText(parsing: #"{"data":[{"id":"a"},{"id":"b"}],"complete":true}"#)
        func hint(_ limit: String) throws -> String? {
            try (RepairminderSync.parseAsRoot(["search", "x", "--limit", limit]) as? SearchCommand)?.hint(two)
        }
        #expect(try hint("2") == "there may be more matches; --limit 100 shows up to 100")
        #expect(try hint("3") == nil)
        let partial = try JSONText(parsing: #"{"data":[],"complete":false}"#)
        let search = try RepairminderSync.parseAsRoot(["search", "x"]) as? SearchCommand
        #expect(search?.hint(partial)?.contains("still being indexed") == true)
    }

    @Test("api takes a path, or a method and a path, and nothing else")
    func api() throws {
        for words in [["/v1/status"], ["delete", "/v1/orders/a"], ["/v1/orders", "-d", "-"]] {
            try APICommand.parse(words).requireCall()
        }
        for words in [["v1/status"], ["GET", "POST", "/"], ["G T", "/"], ["/v1/orders", "-d", "@order.json"]] {
            #expect(throws: CommandFailure.self, "\(words)") { try APICommand.parse(words).requireCall() }
        }
        for words in [[], ["/", "-H", "nothing"], ["/", "-H", "a: b\n"]] {
            #expect(throws: (any Error).self, "\(words)") { try APICommand.parse(words) }
        }
    }

    @Test("api reports a mistyped flag, not its value as a second path")
    func mistypedFlag() {
        let error = #expect(throws: (any Error).self) { try APICommand.parse(["/v1/status", "--adress", "x"]) }
        #expect(error.map { APICommand.fullMessage(for: $0) }?.contains("--adress") == true)
    }
}
