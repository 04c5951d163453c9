import JSONText
import LocalAPI
import Testing

@testable import repairminder_sync

@Suite struct FieldArgumentTests {
    @Test(
        "= sets text, := sets JSON",
        arguments: [
            ("status=ready", "status", #""ready""#), ("phone=0123", "phone", #""0123""#), ("notes=", "notes", #""""#),
            ("a=b=c", "a", #""b=c""#), ("total:=129.90", "total", "129.90"), ("notes:=null", "notes", "null"),
            (#"tags:=["a"]"#, "tags", #"["a"]"#), ("note=a:=b", "note", #""a:=b""#),
        ])
    func parsing(argument: String, name: String, json: String) throws {
        let field = try FieldArgument(argument)
        #expect(field.name == name)
        #expect(field.value.text == json)
    }

    @Test(
        "an invalid field is rejected as a usage error", arguments: ["status", "=x", ":=1", "total:=12,90", "total:="])
    func refused(argument: String) {
        let error = #expect(throws: CommandFailure.self) { try FieldArgument(argument) }
        #expect(error?.status == .usage)
    }

    @Test("fields become one object in order, and duplicates are rejected")
    func object() throws {
        #expect(try FieldArgument.object(["b=1", "a:=1"]).text == #"{"b":"1","a":1}"#)
        #expect(throws: CommandFailure(.usage, "a is given twice")) { try FieldArgument.object(["a=1", "a:=2"]) }
    }

    @Test("when a field is rejected as text, a hint shows how to send JSON")
    func hint() async {
        let problem = LocalAPIProblem(
            status: 422, title: "x", detail: "total: not a number",
            errors: [.init(field: "total", message: "not a number")])
        let message = "total: not a number\n  total was sent as text; to send it as JSON, write total:=129.90"
        await #expect {
            try await RecordWriting.explaining(["total=129.90", "notes=1"]) { () throws(LocalAPIError) in
                throw .problem(problem)
            }
        } throws: { error in
            let failure = error as? CommandFailure
            return failure?.status == .badData && failure?.message == message
        }
    }
}
