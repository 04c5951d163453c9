import JSONText
import Testing

@testable import LocalAPIServer

@Suite("The body of a batch")
struct BatchRequestTests {
    @Test(
        "a malformed operation is refused with a pointer to the member",
        arguments: [
            (#"7"#, "/operations/0"), (#"{}"#, "/operations/0/operation"),
            (#"{"operation":"get","entity":"orders"}"#, "/operations/0/operation"),
            (#"{"operation":"create","entity":7,"body":{}}"#, "/operations/0/entity"),
            (#"{"operation":"create","entity":"orders"}"#, "/operations/0/body"),
            (#"{"operation":"create","entity":"orders","body":[]}"#, "/operations/0/body"),
            (#"{"operation":"create","entity":"orders","body":{},"lid":""}"#, "/operations/0/lid"),
            (#"{"operation":"create","entity":"orders","body":{},"id":"x"}"#, "/operations/0/id"),
            (#"{"operation":"update","entity":"orders","body":{}}"#, "/operations/0/id"),
            (#"{"operation":"update","entity":"orders","body":{},"id":{"lid":7}}"#, "/operations/0/id"),
            (#"{"operation":"update","entity":"orders","body":{},"id":"a","merge":1}"#, "/operations/0/merge"),
            (#"{"operation":"update","entity":"orders","body":{},"id":"a","if_match":"x"}"#, "/operations/0/if_match"),
            (#"{"operation":"replace","entity":"orders","body":{},"id":"a","merge":true}"#, "/operations/0/merge"),
            (#"{"operation":"delete","entity":"orders","id":"a","body":{}}"#, "/operations/0/body"),
            (#"{"operation":"delete","entity":"orders","id":"a","id":"b"}"#, "/operations/0/id"),
            (#"{"operation":"delete","entity":"orders","id":"a","a/b":1}"#, "/operations/0/a~1b"),
        ])
    func malformed(_ operation: String, _ pointer: String) async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([operation])
        #expect(answer.status == 400 && answer.json["code"] == "invalid_body")
        #expect(answer.pointers == [pointer])
    }

    @Test(
        "members that the body does not have, other types and too many operations are refused",
        arguments: [
            (#"{}"#, "/operations"), (#"{"operations":{}}"#, "/operations"),
            (#"{"operations":[],"atomic":1}"#, "/atomic"), (#"{"operations":[],"atom":true}"#, "/atom"),
            (#"{"operations":[\#(Array(repeating: "7", count: 1001).joined(separator: ","))]}"#, "/operations"),
        ])
    func body(_ body: String, _ pointer: String) async throws {
        let api = try await BatchShop.filled()
        let answer = await api.call("POST", "/v1/_batch", body: body)
        #expect(answer.status == 400 && answer.pointers == [pointer])
    }

    @Test("a misspelt operation is reported with a suggestion, and not again by what refers to its record")
    func misspelt() async throws {
        let api = try await BatchShop.filled()
        let answer = await api.batch([
            #"{"operation":"Create","entity":"orders","lid":"n","body":{}}"#,
            #"{"operation":"update","entity":"orders","id":{"lid":"n"},"body":{}}"#,
        ])
        #expect(answer.pointers == ["/operations/0/operation"], "\(answer.text)")
        #expect(answer.json["detail"]?.string?.hasSuffix("did you mean create?") == true, "\(answer.text)")
    }

    @Test("all mistakes are reported at once, a hundred at most")
    func all() async throws {
        let api = try await BatchShop.filled()
        #expect(await api.batch(["1", "{}"]).pointers == ["/operations/0", "/operations/1/operation"])
        #expect(await api.batch(Array(repeating: "1", count: 1000)).pointers.count == 100)
        #expect(await api.call("POST", "/v1/_batch", body: "[]").status == 400)
    }
}
