import EntitySchema
import JSONText
import Testing

@testable import Upstream

@Suite("Answers that say that they lack records")
struct PartialAnswerTests {
    private func found(
        _ envelope: String, status: Int = 200, range: String? = nil, isLast: Bool = true, isBlank: Bool = false
    ) throws -> String? {
        let headers = range.map { [HTTPHeader("Content-Range", $0)] } ?? []
        return PartialAnswer.found(
            in: HTTPResponse(status: status, headers: headers), try JSONText(parsing: envelope), isLast: isLast,
            isBlank: isBlank)
    }

    @Test(
        "a member says so",
        arguments: [
            (#"{"errors":[{"shard":2}]}"#, "errors"), (#"{"errors":"shard 2 failed"}"#, "errors"),
            (#"{"errors":{"shard":2}}"#, "errors"), (#"{"timed_out":true}"#, "timed_out"),
            (#"{"incomplete_results":true}"#, "incomplete_results"), (#"{"partial":true}"#, "partial"),
            (#"{"error":{"message":"Transaction cancelled"},"status":"failure"}"#, "error"),
            (#"{"error":{"code":504,"message":"timeout"}}"#, "error"),
            (#"{"error":{"status":"UNAVAILABLE","message":"shard 2"}}"#, "error"),
            (#"{"timed_out":false,"_shards":{"total":5,"successful":4,"failed":1}}"#, "_shards.failed"),
            (#"{"_clusters":{"total":2,"successful":1,"skipped":1}}"#, "_clusters.skipped"),
            (#"{"responseHeader":{"status":0,"partialResults":true}}"#, "responseHeader.partialResults"),
            (#"{"unreachable":["locations/us-east1"]}"#, "unreachable"),
        ])
    func members(_ envelope: String, _ member: String) throws {
        #expect(try found(envelope) == member)
    }

    @Test(
        "a whole answer has none that does",
        arguments: [
            "[]", "{}", #"{"errors":[]}"#, #"{"errors":null,"timed_out":false}"#, #"{"errors":{}}"#, #"{"errors":""}"#,
            #"{"error":"OK"}"#, #"{"error":{"code":0,"message":"success"}}"#, #"{"error":{"message":""}}"#,
            #"{"error":{"code":200,"message":"OK"}}"#, #"{"error":null}"#,
            #"{"error":{"code":"OK","message":"done"}}"#, #"{"error":{"status":"success","message":"2 records"}}"#,
            #"{"_shards":{"total":5,"successful":5,"skipped":2,"failed":0}}"#, #"{"_shards":5,"unreachable":[]}"#,
            #"{"errors":0,"partial":"none"}"#, #"{"id":7,"partial":true,"errors":["no address"],"parts":[]}"#,
        ])
    func whole(_ envelope: String) throws {
        #expect(try found(envelope) == nil)
    }

    @Test(
        "without records, so does a refusal",
        arguments: [
            (#"{"success":false,"message":"license expired"}"#, "success"), (#"{"ok":false}"#, "ok"),
            (#"{"error":"token expired"}"#, "error"), (#"{"error":"OK","success":true}"#, nil), (#"{"error":""}"#, nil),
            (#"{"status":"error","message":"database"}"#, "status"), (#"{"status":"fail"}"#, "status"),
            (#"{"status":"success"}"#, nil), (#"{"status":"failed jobs"}"#, nil), (#"{"status":500}"#, nil),
        ] as [(String, String?)])
    func refusal(_ envelope: String, _ member: String?) throws {
        #expect(try found(envelope, isBlank: true) == member)
        #expect(try found(envelope) == nil)
    }

    @Test("an error that means an empty list says nothing about records")
    func empty() throws {
        let envelope = try JSONText(parsing: #"{"error":{"code":404,"message":"Not Found: No third parties found"}}"#)
        let response = HTTPResponse(status: 404, headers: [])
        #expect(PartialAnswer.found(in: response, envelope, empty: Place(paths: ["error"]), isLast: true) == nil)
        #expect(PartialAnswer.found(in: response, envelope, isLast: true) == "error")
        let denial = try JSONText(parsing: #"{"success":false}"#)
        let place = Place(paths: ["success"])
        #expect(PartialAnswer.found(in: response, denial, empty: place, isLast: true, isBlank: true) == nil)
    }

    @Test("206 says so, unless it names the range that was asked for")
    func status() throws {
        #expect(try found("[]", status: 206) == "status 206")
        #expect(try found("[]", status: 206, range: "0-24/3573458") == nil)
        #expect(try found(#"{"errors":["shard 2"]}"#, isLast: false) == "errors")
    }

    @Test("202 without records says so, because the list is still being prepared")
    func prepared() throws {
        #expect(try found("[]", status: 202, isBlank: true) == "status 202")
        #expect(try found("[]", status: 202) == nil)
        #expect(try found("[]", isBlank: true) == nil)
    }
}
