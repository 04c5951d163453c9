import EntitySchema
import JSONText
import Testing

@testable import Upstream

extension ChangeAnswerTests {
    @Test(
        "a record in an object whose status is an error, without what was sent, acknowledges nothing",
        arguments: [
            ("data.0.details", #"{"data":[{"code":"DUPLICATE_DATA","status":"error","details":{"id":"7"}}]}"#),
            ("data", #"{"status":"fail","data":{"id":"7"}}"#),
            ("result.order", #"{"status":"FAILED","result":{"order":{"id":"7"}}}"#),
        ])
    func recordInFailure(_ place: String, _ body: String) async throws {
        for (method, status) in [("POST", 202), ("PATCH", 202), ("PATCH", 200), ("DELETE", 200)] {
            let sent = try await send(body, method: method, status: status) {
                if method == "DELETE" { $0.body = nil }
                ($0.record, $0.isRecordInherited) = (Place(paths: [place]), false)
            }
            #expect(sent.outcome == .unclear, "\(method)")
            #expect(sent.message.contains(body))
        }
    }

    @Test("a status of the record itself, one that was sent, and one beside what was sent are no errors")
    func statusOfRecord() async throws {
        let own = #"{"id":"7","status":"failed"}"#
        #expect(try await send(own).outcome == .record(own))
        #expect(try await send(#"{"data":\#(own)}"#).outcome == .record(own))
        let warned = try await send(#"{"status":"error","data":{"id":"7","a":1}}"#)
        #expect(warned.outcome == .record(#"{"id":"7","a":1}"#))
        let failing = JSONText.object(["status": "failed"])
        let closing = try await send(#"{"status":"failed","data":{"id":"7"}}"#) { $0.body = failing }
        #expect(closing.outcome == .record(#"{"id":"7"}"#))
    }
}
