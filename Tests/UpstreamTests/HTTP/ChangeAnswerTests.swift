import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// What counts as an acknowledgement of a change (2xx), and what is unclear.
@Suite("The answer to a change")
struct ChangeAnswerTests {
    /// What came back for one change.
    enum Outcome: Equatable {
        case record(String)
        case accepted(String?)
        case unclear, barred, refused, gone, other
    }

    struct Sent {
        var outcome: Outcome
        var message: String
        var isSilent = false
    }

    func upstream(_ response: HTTPResponse, _ more: String = "") throws -> HTTPUpstream {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "https://shop.example", records: data\(more) }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let transport = ScriptedTransport { _ in response }
        return HTTPUpstream(plan: schema.upstream, transport: transport)
    }

    func send(
        _ body: String, method: String = "PATCH", status: Int = 200, type: String? = "application/json",
        location: String? = nil, schema: String = "", isEndCertain: Bool = true,
        edit: (inout PushRequest) -> Void = { _ in }
    ) async throws -> Sent {
        let headers = [type.map { HTTPHeader("Content-Type", $0) }, location.map { HTTPHeader("Location", $0) }]
        var response = HTTPResponse(status: status, headers: headers.compactMap(\.self), body: Array(body.utf8))
        response.isEndCertain = isEndCertain
        var request = PushRequest(
            method: method, path: "/orders/1", body: .object(["a": 1]), record: Place(paths: ["data"]))
        edit(&request)
        let upstream = try upstream(response, schema)
        do throws(UpstreamError) {
            let answer =
                request.content == nil
                ? try await upstream.push(request, idempotencyKey: "k")
                : try await upstream.upload(
                    request, from: BodySource(size: 1) { _, _ in [1] }, idempotencyKey: "k")
            switch answer {
            case .record(let found): return Sent(outcome: .record(found.record.text), message: "")
            case .accepted(let location, let isSilent):
                return Sent(outcome: .accepted(location), message: "", isSilent: isSilent)
            case .repeatedFailure(_, let message): return Sent(outcome: .other, message: message)
            }
        } catch {
            let outcome: Outcome =
                switch error {
                case .unclear(let code, _) where code == status: .unclear
                case .barred(let code, _, _) where code == status: .barred
                case .refused(let code, _) where code == status: .refused
                case .gone(let code, _) where code == status: .gone
                default: .other
                }
            return Sent(outcome: outcome, message: error.message)
        }
    }

    @Test("an answer with more than 128 combining marks in a row acknowledges without its record, or with a new key")
    func manyMarks() async throws {
        for marks in [String(repeating: "\u{315}", count: 129), String(repeating: #"\u0316"#, count: 129)] {
            let record = #"{"id":5,"note":"e\#(marks)"}"#
            #expect(try await send(#"{"data":\#(record)}"#).outcome == .accepted(nil))
            let new = try await send(#"{"data":\#(record)}"#, status: 201) { $0.operation = .create }
            #expect(new.outcome == .record(#"{"id":5}"#))
            #expect(try await send(#"{"note":"e\#(marks)"}"#).outcome == .unclear)
            #expect(try await send(#"{"data":\#(record)"#).outcome == .unclear)
            let denied = try await send(#"{"success":false,"error":"e\#(marks)"}"#)
            #expect(denied.outcome == .unclear)
        }
    }

    // MARK: Recognised

    @Test("a record with a key at the schema's place is the record")
    func record() async throws {
        #expect(try await send(#"{"data":{"id":5,"a":1}}"#).outcome == .record(#"{"id":5,"a":1}"#))
    }

    @Test("a new record's key alone is the record, where the route names its place")
    func bareKey() async throws {
        func named(_ request: inout PushRequest) {
            request.operation = .create
            (request.record, request.isRecordInherited) = (Place(paths: ["0"]), false)
        }
        #expect(try await send("[7]", method: "POST", edit: named).outcome == .record(#"{"id":7}"#))
        #expect(try await send(#"["a-1"]"#, method: "POST", edit: named).outcome == .record(#"{"id":"a-1"}"#))
        for other in [#"[""]"#, "[true]", "[]", #"[[7]]"#] {
            #expect(try await send(other, method: "POST", edit: named).outcome == .unclear)
        }
        #expect(
            try await send(
                "[7]",
                edit: {
                    named(&$0); $0.operation = .update
                }
            ).outcome == .unclear)
        #expect(try await send(#"{"data":7}"#, method: "POST", edit: { $0.operation = .create }).outcome == .unclear)
    }

    @Test("a byte order mark before the JSON is skipped")
    func mark() async throws {
        #expect(try await send("\u{FEFF}" + #"{"data":{"id":"1"}}"#).outcome == .record(#"{"id":"1"}"#))
    }

    @Test(
        "an empty answer is an acknowledgement for the statuses that have none", arguments: [200, 201, 202, 204, 205],
        ["", " \r\n", "null", "{}"])
    func empty(_ status: Int, _ body: String) async throws {
        let sent = try await send(body, status: status)
        #expect(sent.outcome == .accepted(nil))
        #expect(sent.isSilent == (![204, 205].contains(status) || body.first == "n" || body.first == "{"))
    }

    @Test(
        "an empty answer that may have been cut is unclear, unless the schema calls its status a success",
        arguments: ["PATCH", "DELETE", "POST"], ["", "\n"])
    func cut(_ method: String, _ body: String) async throws {
        let sent = try await send(body, method: method, isEndCertain: false)
        #expect(sent.outcome == .unclear)
        #expect(sent.message.contains("could have been cut"))
        let rule = ", answers: [{ status: 200, means: ok }]"
        let ruled = try await send(body, method: method, schema: rule, isEndCertain: false)
        #expect(ruled.outcome == .accepted(nil) && !ruled.isSilent)
    }

    @Test("a record is recognised however its answer ends, because half of one is no JSON")
    func cutRecord() async throws {
        let record = #"{"id":"1"}"#
        #expect(try await send(record, isEndCertain: false).outcome == .record(record))
        #expect(try await send(#"{"id":"#, isEndCertain: false).outcome == .unclear)
    }

    @Test("an empty answer of any other status is unclear", arguments: [203, 206, 207, 226])
    func emptyOther(_ status: Int) async throws {
        #expect(try await send("", status: status).outcome == .unclear)
    }

    @Test(
        "a 207 that gives the change the status of a refusal acknowledges nothing",
        arguments: [
            #"[{"id":"7","status":422,"message":"too long"}]"#,
            #"{"data":{"id":"7","status":"HTTP/1.1 403 Forbidden"}}"#,
        ])
    func refusedPart(_ body: String) async throws {
        for method in ["PATCH", "DELETE"] {
            #expect(try await send(body, method: method, status: 207).outcome == .unclear)
        }
        #expect(try await send(body).outcome != .unclear, "a record may have a status of its own")
        let closing = try await send(body, status: 207) { $0.body = .object(["status": "closed"]) }
        #expect(closing.outcome == .unclear, "it is not the status that was sent")
    }

    @Test("a 207 that shows what was sent, or whose status is a success, has the record")
    func acceptedPart() async throws {
        for record in [#"{"id":"7","status":200}"#, #"{"id":"7","a":1,"status":404}"#] {
            #expect(try await send(record, status: 207).outcome == .record(record))
        }
        let own = #"{"id":"7","status":450}"#
        let numbered = try await send(own, status: 207) { $0.body = .object(["status": 450]) }
        #expect(numbered.outcome == .record(own))
    }

    @Test("202 with an object accepts a change that is applied later, unless the object denies it")
    func later() async throws {
        #expect(try await send(#"{"status":"accepted"}"#, status: 202).outcome == .accepted(nil))
        for denied in [#"{"success":false}"#, #"{"status":"queued","error":"quota exceeded"}"#, "[]", "<html>"] {
            #expect(try await send(denied, status: 202).outcome != .accepted(nil))
        }
    }

    @Test("202 with a job accepts an edit, and the job's key is not taken for the record's")
    func job() async throws {
        for job in [#"{"id":"job-77","state":"queued"}"#, #"{"data":{"id":"job-77","state":"queued"}}"#] {
            let sent = try await send(job, status: 202, location: "/jobs/job-77")
            #expect(sent.outcome == .accepted("/jobs/job-77"))
        }
        let record = #"{"id":"1","a":2}"#
        #expect(try await send(record, status: 202).outcome == .record(record), "it shows what was sent")
        let job = #"{"id":"job-77","state":"queued"}"#
        #expect(try await send(job, status: 200).outcome == .record(job), "only 202 is about later")
    }

    @Test("202 with a key to a creation is a record that is there later, if it is one", arguments: [201, 202])
    func createdLater(_ status: Int) async throws {
        let upstream = try upstream(.json(status, #"{"id":"job-77","state":"queued"}"#))
        let creation = PushRequest(method: "POST", path: "/orders", body: .object(["a": 1]))
        let answer = try await upstream.push(creation, idempotencyKey: "k")
        #expect(answer.record?.record["id"] == "job-77" && answer.record?.isLater == (status == 202))
    }

    @Test("#18 an answer without a body says where the record is")
    func location() async throws {
        let sent = try await send("", method: "POST", status: 201, location: "https://shop.example/orders/17")
        #expect(sent.outcome == .accepted("https://shop.example/orders/17"))
    }

    @Test(
        "success without a record is an acknowledgement",
        arguments: [#"{"success":true}"#, #"{"ok":true,"data":null}"#])
    func success(_ body: String) async throws {
        #expect(try await send(body).outcome == .accepted(nil))
    }

    @Test("a record may have a field named success")
    func fieldNamedSuccess() async throws {
        let record = #"{"id":"1","success":false}"#
        #expect(try await send(record).outcome == .record(record))
    }

    @Test("#10 a bare record is recognised although the lists are in an envelope")
    func bare() async throws {
        for body in [#"{"id":"1","a":1}"#, #"[{"id":"1","a":1}]"#] {
            #expect(try await send(body, method: "POST", status: 201).outcome == .record(#"{"id":"1","a":1}"#))
        }
        // The record itself has a member of the envelope's name.
        let record = #"{"id":"1","data":{"a":1}}"#
        #expect(try await send(record, method: "POST", status: 201).outcome == .record(record))
        // Here the schema says that the record is at data.
        let strict = try await send(record, method: "POST", status: 201) { $0.isRecordInherited = false }
        #expect(strict.outcome == .unclear)
    }

    @Test(
        "a deletion needs no record",
        arguments: [#"{"deleted":true}"#, #"{"id":"1"}"#, #"{"data":null,"success":true}"#])
    func deletion(_ body: String) async throws {
        let outcome = try await send(body, method: "DELETE").outcome
        #expect(outcome == .accepted(nil) || outcome == .record(#"{"id":"1"}"#))
    }

    @Test("an empty object in place of the record says that it was deleted, unless there is an error")
    func emptyOfDeleted() async throws {
        #expect(try await send(#"{"data":{}}"#, method: "DELETE").outcome == .accepted(nil))
        #expect(try await send(#"{"data":{},"errors":[{"message":"no"}]}"#, method: "DELETE").outcome == .unclear)
        #expect(try await send(#"{"data":{}}"#).outcome == .unclear)
    }

    @Test("true in place of the record says that an edit or a deletion succeeded, and not which record was created")
    func truth() async throws {
        #expect(try await send("true").outcome == .accepted(nil))
        #expect(try await send("true", method: "DELETE") { $0.body = nil }.outcome == .accepted(nil))
        #expect(try await send("true", method: "POST") { $0.operation = .update }.outcome == .accepted(nil))
        #expect(try await send("true", method: "POST") { $0.operation = .create }.outcome == .unclear)
        #expect(try await send(#""true""#).outcome == .unclear)
        #expect(try await send(#"{"data":true,"time":1}"#).outcome == .accepted(nil))
        #expect(try await send(#"{"data":true,"success":false}"#).outcome == .unclear)
        #expect(try await send(#"{"data":false}"#).outcome == .unclear)
    }

    @Test("true under the record's key says that an edit or a deletion of it succeeded")
    func truthUnderKey() async throws {
        for body in [#"[{"1":true,"message":""}]"#, #"{"1":true}"#] {
            #expect(try await send(body) { $0.recordKey = "1" }.outcome == .accepted(nil))
            #expect(
                try await send(body, method: "DELETE") { ($0.recordKey, $0.body) = ("1", nil) }.outcome
                    == .accepted(nil))
            #expect(try await send(body) { $0.recordKey = "2" }.outcome == .unclear)
            #expect(try await send(body, method: "POST").outcome == .unclear)
        }
        #expect(try await send(#"[{"1":false,"message":"No right"}]"#) { $0.recordKey = "1" }.outcome == .unclear)
    }

    // MARK: Not recognised

    @Test(
        "#1 an answer that says nothing about the record acknowledges nothing",
        arguments: ["PATCH", "DELETE", "POST", "UPLOAD"],
        [
            #"{"success": false}"#, #"{"success":false,"data":{"id":"1"}}"#, #"{"data":{"id":"1","a""#, "OK",
            #"{"message":"Please sign in"}"#, #"{"data":{"id":null}}"#, #"{"data":[{"id":"1"},{"id":"2"}]}"#, "[]",
            "false",
        ])
    func unclear(_ method: String, _ body: String) async throws {
        let sent = try await send(
            body, method: method == "UPLOAD" ? "PUT" : method, type: "application/json; charset=utf-8"
        ) {
            if method == "UPLOAD" { $0.content = Content(sha256: "", size: 1, type: "image/png") }
        }
        #expect(sent.outcome == .unclear)
        #expect(sent.message.hasSuffix("(application/json): \(body)"), "\(sent.message)")
    }

    private static let refusals = [
        #"[{"id":"001","success":false,"errors":[{"statusCode":"ENTITY_IS_LOCKED"}]}]"#,
        #"{"id":"7","errors":{"title":["invalid"]}}"#, #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000}}"#,
        #"{"data":{"id":"7"},"error":"locked"}"#,
    ]

    @Test(
        "an answer with a key and an error, and nothing that was sent, acknowledges nothing",
        arguments: ["PATCH", "DELETE", "POST"], refusals)
    func refusal(_ method: String, _ body: String) async throws {
        let sent = try await send(body, method: method) { if method == "DELETE" { $0.body = nil } }
        #expect(sent.outcome == .unclear)
        #expect(sent.message.hasSuffix("(application/json): \(body)"), "\(sent.message)")
    }

    @Test("nor does a record that is shown with an error after its deletion")
    func refusedDeletion() async throws {
        let body = #"{"id":"1","a":1,"errors":["locked"]}"#
        #expect(try await send(body, method: "DELETE") { $0.body = nil }.outcome == .unclear)
        #expect(try await send(body).outcome == .record(body), "what was sent is there, so the error is a warning")
    }

    @Test(
        "a record without an error is the record, however the answer says that there is none",
        arguments: ["[]", "{}", "null", "false", #""""#, "0"])
    func noError(_ value: String) async throws {
        for name in ["error", "errors"] {
            let record = "{\"id\":\"1\",\"title\":\"sent\",\"\(name)\":\(value)}"
            #expect(try await send(record).outcome == .record(record))
            #expect(try await send(record, method: "DELETE") { $0.body = nil }.outcome == .record(record))
        }
    }

    @Test("a member for errors that is sent itself is a field, and what says success is believed")
    func fieldNamedErrors() async throws {
        let record = #"{"id":"1","errors":3}"#
        #expect(try await send(record) { $0.body = .object(["errors": 3]) }.outcome == .record(record))
        let warned = #"{"success":true,"id":"1","errors":["slow"]}"#
        #expect(try await send(warned).outcome == .record(warned))
    }

    @Test("#1 a web page acknowledges nothing", arguments: ["PATCH", "DELETE", "POST"])
    func page(_ method: String) async throws {
        let page = "<!DOCTYPE html>\n<html>" + String(repeating: "<p>Sign in</p>", count: 100)
        let sent = try await send(page, method: method, type: "text/html; charset=utf-8")
        #expect(sent.outcome == .barred)
        let start =
            "\(method) /orders/1 answered 200 with a web page where JSON belongs (text/html): <!DOCTYPE html> <html>"
        #expect(sent.message.hasPrefix(start) && sent.message.hasSuffix("…"), "\(sent.message)")
        #expect(sent.message.count < start.count + 200)
        #expect(try await send(page, method: method, type: nil).outcome == .barred)
    }

    // MARK: Other protocols

    @Test("the id of an answer of JSON-RPC is that of the call, and its result says that it succeeded")
    func answerToCall() async throws {
        for result in ["true", "null", "17", #"[["a"]]"#] {
            let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(result)}"
            #expect(try await send(body).outcome == .accepted(nil))
            #expect(try await send(body, method: "DELETE") { $0.body = nil }.outcome == .accepted(nil))
        }
        #expect(try await send(#"{"jsonrpc":"2.0","id":1,"result":false}"#).outcome == .unclear)
        #expect(try await send(#"{"jsonrpc":"2.0","id":1}"#).outcome == .unclear)
        let named = try await send(#"{"jsonrpc":"2.0","id":1,"result":{"id":"7","a":1}}"#) {
            ($0.record, $0.isRecordInherited) = (Place(paths: ["result"]), false)
        }
        #expect(named.outcome == .record(#"{"id":"7","a":1}"#))
    }

    @Test("an empty list in place of the changed record says that there is none", arguments: ["PATCH", "DELETE"])
    func noRow(_ method: String) async throws {
        let sent = try await send("[]", method: method) {
            ($0.record, $0.isRecordInherited) = (Place(paths: ["0"]), false)
        }
        #expect(sent.outcome == .gone)
        #expect(sent.message.hasPrefix("\(method) /orders/1 answered 200 with an empty list"), "\(sent.message)")
    }

    // MARK: What the schema says

    @Test("upstream.success says which answers are acknowledgements and which are refusals")
    func schemaSuccess() async throws {
        let schema = ", error_message: error, success: { at: result.state, is: [ok, done] }"
        let ok = try await send(#"{"result":{"state":"done"}}"#, schema: schema)
        #expect(ok.outcome == .accepted(nil))
        let refused = try await send(
            #"{"result":{"state":"bad"},"error":"too long","data":{"id":"1"}}"#, schema: schema)
        #expect(refused.outcome == .refused)
        #expect(refused.message == "PATCH /orders/1 answered 200 that the change was refused: too long")
        #expect(try await send(#"{"success":true}"#, schema: schema).outcome == .unclear)
        #expect(try await send(#"{"data":{"id":"1"}}"#, schema: schema).outcome == .record(#"{"id":"1"}"#))
        #expect(try await send(#"{"done":1}"#, schema: ", success: { at: done, is: [1] }").outcome == .accepted(nil))
        #expect(try await send(#"{"done":true}"#, schema: ", success: done").outcome == .accepted(nil))
    }

    @Test("a code that the schema names concerns the account")
    func accountErrors() async throws {
        let schema = ", account_errors: [ACCOUNT_PENDING_APPROVAL]"
        let body = #"{"error":{"code":"ACCOUNT_PENDING_APPROVAL"}}"#
        #expect(try await send(body, schema: schema).outcome == .barred)
    }
}
