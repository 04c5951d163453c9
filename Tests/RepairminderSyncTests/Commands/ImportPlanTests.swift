import JSONText
import LocalAPI
import Synchronization
import Testing

@testable import repairminder_sync

@Suite("What an import does")
struct ImportPlanTests {
    private let shape: EntityShape

    init() throws {
        let shape = try JSONText(
            parsing: #"""
                {"key":"id","fields":[{"name":"id","type":"string"},{"name":"number","type":"integer","natural":true},
                {"name":"notes","type":"string"},{"name":"sum","type":"money","computed":true},
                {"name":"pin","type":"string","secret":true}]}
                """#)
        self.shape = EntityShape(shape)
    }

    /// A daemon that has the record `a` with the number 7, two with the number 9, and refuses notes that say so.
    private func plan(_ rows: [String]) async throws -> (plan: ImportPlan, keys: [String]) {
        let requests = Mutex<[LocalAPIRequest]>([])
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            requests.withLock { $0.append(request) }
            switch (request.method, request.target.split(separator: "?").first) {
            case ("GET", "/v1/orders/a"), ("GET", "/v1/orders/number%3A7"):
                return LocalAPIResponse(status: 200, body: Array(#"{"id":"a","number":7,"box":{"shelf":1}}"#.utf8))
            case ("GET", "/v1/orders/number%3A9"):
                return LocalAPIResponse(
                    status: 400, body: Array(#"{"title":"Bad request","detail":"b, c","code":"ambiguous_id"}"#.utf8))
            case ("GET", _): return LocalAPIResponse(status: 404, body: Array(#"{"title":"Not found"}"#.utf8))
            case ("POST", "/v1/_batch"):
                let body = (try? JSONText(request.body ?? [])) ?? .null
                let results = (body["operations"]?.elements ?? []).map { operation -> JSONText in
                    operation["body"]?["notes"]?.string == "refuse"
                        ? .object(["status": 422, "problem": .object(["detail": "no such notes"])])
                        : .object(["status": 200])
                }
                let answer = JSONText.object(["results": .array(results)])
                return LocalAPIResponse(status: 200, body: Array(answer.bytes))
            default:
                let notes = (try? JSONText(request.body ?? []))?["notes"]?.string
                if notes == "other pin" {
                    let problem = #"{"title":"Refused","detail":"one key each","code":"idempotency_key_reused"}"#
                    return LocalAPIResponse(status: 422, body: Array(problem.utf8))
                }
                var created = LocalAPIResponse(status: 201, body: Array(#"{"id":"new"}"#.utf8))
                created.isReplayed = notes == "imported"
                return created
            }
        }
        var plan = ImportPlan(entity: "orders", shape: shape, isDryRun: false)
        for row in ImportSource(shape: shape).ndjson(Array(rows.joined(separator: "\n").utf8)) {
            try await plan.add(row, client)
        }
        for portion in plan.portions { try await plan.send(portion, client) }
        let headers = requests.withLock { $0 }.flatMap(\.headers)
        return (plan, headers.filter { $0.name == "Idempotency-Key" }.map(\.value))
    }

    @Test("a row with a known id or natural key updates, any other creates")
    func kinds() async throws {
        let (plan, _) = try await plan([
            #"{"id":"a","notes":"x"}"#, #"{"number":7,"notes":"y"}"#, #"{"id":"b","notes":"z"}"#, #"{"number":8}"#,
        ])
        #expect(plan.created == 2 && plan.updated == 2 && plan.failures.isEmpty)
        #expect(plan.portions.map(\.rows.count) == [3, 1])
        #expect(plan.portions[0].rows.map { $0.body["operation"]?.string } == ["update", "update", "create"])
        #expect(plan.portions[0].rows[0].body["body"]?.text == #"{"notes":"x"}"#)
    }

    @Test("before the first load has ended, no row is imported that names a record which the cache lacks")
    func loading() async throws {
        let (plan, _) = try await plan([
            #"{"number":7,"notes":"y"}"#, #"{"notes":"new"}"#, #"{"number":8}"#, #"{"id":"b"}"#,
        ])
        #expect(plan.firstUnknown == 3)
        let failure = #expect(throws: CommandFailure.self) { try plan.requireLoaded(false) }
        #expect(failure?.status == .temporaryFailure && failure?.message.contains("line 3 names a record") == true)
        #expect(throws: Never.self) { try plan.requireLoaded(true) }
        // None of these can be a record that the upstream has.
        let (new, _) = try await self.plan([#"{"notes":"new"}"#, #"{"number":7,"notes":"y"}"#, #"{"number":null}"#])
        #expect(throws: Never.self) { try new.requireLoaded(false) }
    }

    @Test("creations without an id have the same Idempotency-Key in each import; equal rows have different ones")
    func repeated() async throws {
        let rows = [#"{"notes":"n"}"#, #"{"notes":"n"}"#, #"{"notes":"m","sum":2}"#]
        let first = try await plan(rows).keys
        let second = try await plan(rows).keys
        #expect(first == second && Set(first).count == 3)
        // Rows before it do not matter.
        let later = try await plan([#"{"notes":"other"}"#] + rows).keys
        #expect(Array(later.dropFirst()) == first)
    }

    @Test("the key of a creation without an id has nothing of its secrets, which trying all would find")
    func secrets() async throws {
        let keys = try await plan([#"{"notes":"n","pin":"4711"}"#, #"{"notes":"n","pin":"0815"}"#]).keys
        #expect(try await plan([#"{"notes":"n"}"#, #"{"notes":"n","pin":"2"}"#]).keys == keys && Set(keys).count == 2)
    }

    @Test("a row that differs from an imported one only in a secret fails with words about that")
    func otherSecret() async throws {
        let (plan, _) = try await plan([#"{"notes":"other pin","pin":"1"}"#, #"{"notes":"new"}"#])
        #expect(plan.created == 1 && plan.failures.map(\.line) == [1])
        #expect(plan.failures.first?.message.contains("differs only in secret fields") == true)
    }

    @Test("a row that an earlier import has created is counted as that, and not as created")
    func known() async throws {
        let (plan, _) = try await plan([#"{"notes":"imported"}"#, #"{"notes":"new"}"#])
        #expect(plan.created == 1 && plan.known == 1 && plan.failures.isEmpty)
    }

    @Test("a row that is refused or has an unknown field fails with its line, and the others are imported")
    func failures() async throws {
        let (plan, _) = try await plan([#"{"id":"a","notes":"refuse"}"#, #"{"colour":1}"#, #"{"id":"a","notes":"ok"}"#])
        #expect(plan.updated == 1 && plan.created == 0)
        #expect(plan.failures.map(\.line).sorted() == [1, 2])
        #expect(Set(plan.failures.map(\.message)) == ["no such notes", "there is no field colour"])
    }

    @Test("what a known record shows beside its fields is left out of a row that has it unchanged")
    func besideFields() async throws {
        let (plan, _) = try await plan([
            #"{"id":"a","box":{"shelf":1},"notes":"x"}"#, #"{"id":"a","box":{"shelf":2}}"#,
            #"{"id":"b","box":{"shelf":1}}"#,
        ])
        #expect(plan.portions.flatMap(\.rows).map { $0.body["body"]?.text } == [#"{"notes":"x"}"#])
        #expect(plan.failures.map(\.line) == [2, 3])
        #expect(Set(plan.failures.map(\.message)) == ["there is no field box"])
    }

    @Test("rows that fail for the same reason are one line of the report, with all their lines")
    func reasons() async throws {
        let (plan, _) = try await plan([
            #"{"colour":1}"#, #"{"id":"a","notes":"refuse"}"#, #"{"id":"a","notes":"refuse"}"#, #"{"colour":2}"#,
            #"{"id":"a","notes":"ok"}"#, #"{"id":"a","notes":"refuse"}"#, #"{"shape":2}"#,
        ])
        #expect(
            plan.failureText == """
                lines 1, 4: there is no field colour
                lines 2-3, 6: no such notes
                line 7: there is no field shape

                """)
        #expect(try await self.plan([#"{"id":"a","notes":"ok"}"#]).plan.failureText == "")
    }

    @Test("a row whose natural key several records have fails by itself, and the others are imported")
    func ambiguous() async throws {
        let (plan, _) = try await plan([#"{"number":9,"notes":"which?"}"#, #"{"number":7,"notes":"ready"}"#])
        #expect(plan.updated == 1)
        #expect(plan.failures.map(\.line) == [1])
        #expect(plan.failures.first?.message.contains("b, c") == true)
    }

    @Test("a dry run says that an entity takes no new records, or no changes", arguments: ["create", "update"])
    func routes(_ operation: String) async throws {
        let document = try JSONText(
            parsing: #"""
                {"name":"orders","key":"id","create":\#(operation == "create" ? "null" : "[]"),
                "update":\#(operation == "update" ? "null" : "[]"),"fields":[{"name":"id","type":"string"}]}
                """#)
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            request.target.contains("/a")
                ? LocalAPIResponse(status: 200, body: Array(#"{"id":"a"}"#.utf8))
                : LocalAPIResponse(status: 404, body: Array(#"{"title":"Not found"}"#.utf8))
        }
        var plan = ImportPlan(entity: "orders", shape: EntityShape(document), isDryRun: true)
        let rows = ["a", "b"].map { #"{"id":"\#($0)"}"# }.joined(separator: "\n")
        for row in ImportSource(shape: plan.shape).ndjson(Array(rows.utf8)) { try await plan.add(row, client) }
        plan.countPlanned()
        #expect(plan.created == (operation == "create" ? 0 : 1) && plan.updated == (operation == "update" ? 0 : 1))
        #expect(plan.failures.map(\.line) == [operation == "create" ? 2 : 1])
        #expect(throws: CommandFailure.self) { try plan.requireAllRows() }
    }

    @Test("a dry run says what a new record lacks")
    func lacking() async throws {
        let document = try JSONText(
            parsing: #"""
                {"name":"orders","key":"id","create":[],"update":[],"fields":[
                {"name":"id","type":"string","required":true},{"name":"client","type":"string","required":true},
                {"name":"total","type":"money","required":true},
                {"name":"state","type":"string","required":true,"default":"new"}]}
                """#)
        let client = LocalAPIClient { (_) throws(LocalAPIError) in
            LocalAPIResponse(status: 404, body: Array(#"{"title":"Not found"}"#.utf8))
        }
        var plan = ImportPlan(entity: "orders", shape: EntityShape(document), isDryRun: true)
        let rows = [
            #"{"client":"c","total":1}"#, #"{"total":1}"#, #"{"client":null,"total":1}"#, #"{"id":"a"}"#,
        ].joined(separator: "\n")
        for row in ImportSource(shape: plan.shape).ndjson(Array(rows.utf8)) { try await plan.add(row, client) }
        plan.countPlanned()
        #expect(plan.created == 1 && plan.failures.map(\.line) == [2, 3, 4])
        #expect(plan.failures.dropFirst().first?.message == "client: a new record needs this field")
        #expect(plan.failures.first?.message == "client: a new record needs this field")
        #expect(plan.failures.last?.message == "client, total: a new record needs these fields")
    }

    @Test("a dry run says that a row changes a field which no route sends; one that has it unchanged is well")
    func unsendable() async throws {
        let document = try JSONText(
            parsing: #"""
                {"name":"orders","key":"id","create":[],"update":["notes"],"fields":[{"name":"id","type":"string"},
                {"name":"notes","type":"string"},{"name":"total","type":"money"},{"name":"client","type":"reference"}]}
                """#)
        let client = LocalAPIClient { (_) throws(LocalAPIError) in
            LocalAPIResponse(status: 200, body: Array(#"{"id":"a","notes":"x","total":1.50,"client":17}"#.utf8))
        }
        var plan = ImportPlan(entity: "orders", shape: EntityShape(document), isDryRun: true)
        let rows = ["a,y,1.5,17", "a,y,2,17", "a,y,1.50,18"].joined(separator: "\n")
        for row in try ImportSource(shape: plan.shape).csv(Array("id,notes,total,client\n\(rows)\n".utf8)) {
            try await plan.add(row, client)
        }
        plan.countPlanned()
        #expect(plan.updated == 1 && plan.failures.map(\.line) == [3, 4])
        #expect(plan.failures.first?.message == "total: it cannot be changed; the schema sends changes of notes")
    }

    @Test("an import that is cut short knows what it has done and which rows failed, and says to import again")
    func stopped() async throws {
        let sent = Mutex(0)
        let client = LocalAPIClient { (request) throws(LocalAPIError) in
            guard request.method == "POST" else {
                return LocalAPIResponse(status: 404, body: Array(#"{"title":"Not found"}"#.utf8))
            }
            let number = sent.withLock { count in
                count += 1
                return count
            }
            guard number < 3 else { throw .unreachable("the daemon cannot be reached") }
            return number == 1
                ? LocalAPIResponse(status: 201, body: Array(#"{"id":"new"}"#.utf8))
                : LocalAPIResponse(status: 422, body: Array(#"{"title":"Refused","detail":"no such notes"}"#.utf8))
        }
        var plan = ImportPlan(entity: "orders", shape: shape, isDryRun: false)
        let rows = (1...3).map { #"{"notes":"\#($0)"}"# }.joined(separator: "\n")
        for row in ImportSource(shape: shape).ndjson(Array(rows.utf8)) { try await plan.add(row, client) }
        var error: LocalAPIError?
        do throws(LocalAPIError) {
            for portion in plan.portions { try await plan.send(portion, client) }
        } catch let thrown {
            error = thrown
        }
        #expect(plan.created == 1 && plan.failures.map(\.line) == [2])
        let failure = CommandFailure(try #require(error)).stoppingImport
        #expect(failure.status == .unreachable)
        let words =
            "later rows were not imported: import the same file again within 24 hours, which creates nothing twice"
        #expect(failure.message == "the daemon cannot be reached; \(words)")
    }
}
