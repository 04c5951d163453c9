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
            ("notes=@@home", "notes", #""@home""#), ("notes=@@@home", "notes", #""@@home""#),
            ("notes=a@b", "notes", #""a@b""#), (#"notes:="@a""#, "notes", #""@a""#),
        ])
    func parsing(argument: String, name: String, json: String) throws {
        let field = try FieldArgument(argument)
        #expect(field.name == name)
        #expect(try field.value { (_) throws(CommandFailure) in [] }.text == json)
    }

    /// What the files have, by name.
    private func object(_ arguments: [String], _ files: [String: String]) throws -> String {
        try FieldArgument.object(arguments) { (file) throws(CommandFailure) in Array((files[file] ?? "").utf8) }.text
    }

    @Test("a value is read from a file or standard input, without the line break at the end of a text")
    func files() throws {
        let files = ["note.txt": "Two\nlines\n", "crlf.txt": "a\r\n", "/a b": "", "-": #" {"a": 1.50} "#]
        #expect(
            try object(["notes=@note.txt", "b=@crlf.txt", "c=@/a b", "data:=@-"], files)
                == #"{"notes":"Two\nlines","b":"a","c":"","data":{"a": 1.50}}"#)
        #expect(try object(["a=@-"], ["-": "x\n\n"]) == #"{"a":"x\n"}"#)
    }

    @Test("a file that has not the value is refused, and what it has is not told")
    func unsuitableFiles() throws {
        for argument in ["pin:=@secret", "pin=@bytes"] {
            let error = #expect(throws: CommandFailure.self) {
                try FieldArgument.object([argument]) { (file) throws(CommandFailure) in
                    file == "bytes" ? [0xFF] : Array("hunter2".utf8)
                }
            }
            #expect(error?.status == .badData && error?.message.contains("hunter2") == false)
        }
        let error = #expect(throws: CommandFailure.self) { try FieldArgument.object(["notes=@/nowhere/x"]) }
        #expect(error?.message.contains("/nowhere/x cannot be read") == true && error?.message.contains("@@") == true)
    }

    @Test("standard input has the value of one field at most")
    func standardInputOnce() {
        let failure = CommandFailure(
            .usage, "only one field can be read from standard input; read the others from files")
        #expect(throws: failure) { try FieldArgument.object(["a=@-", "b:=@-"]) }
    }

    @Test(
        "an invalid field is rejected as a usage error",
        arguments: ["status", "=x", ":=1", "total:=12,90", "total:=", "notes=@", "total:=@"])
    func refused(argument: String) {
        let error = #expect(throws: CommandFailure.self) { try FieldArgument(argument) }
        #expect(error?.status == .usage)
    }

    @Test("fields become one object in order, and duplicates are rejected")
    func object() throws {
        #expect(try FieldArgument.object(["b=1", "a:=1"]).text == #"{"b":"1","a":1}"#)
        #expect(throws: CommandFailure(.usage, "a is given twice; give it once")) {
            try FieldArgument.object(["a=1", "a:=2"])
        }
    }

    @Test("a filter needs a field and a value")
    func filter() throws {
        #expect(try FieldArgument.query(["status=ready", "a.gte=b=c"]).map(\.value) == ["ready", "b=c"])
        #expect(throws: CommandFailure(.usage, "status: expected a filter such as status=ready or total.gte=100")) {
            try FieldArgument.query(["status"])
        }
    }

    @Test("no hint shows what a file has")
    func noHintOfFile() async {
        let problem = LocalAPIProblem(
            status: 422, title: "x", detail: "pin: too long", errors: [.init(field: "pin", message: "too long")])
        await #expect {
            try await RecordWriting.explaining(["pin=@1234"]) { () throws(LocalAPIError) in throw .problem(problem) }
        } throws: { error in
            (error as? CommandFailure)?.message == "pin: too long"
        }
    }

    @Test("a field that is refused with any value gets no hint")
    func noHint() async throws {
        let document = try JSONText(
            parsing: #"{"errors":[{"code":"unknown_field","field":"totl","message":"no field"}]}"#)
        let problem = LocalAPIProblem(
            status: 422, title: "x", detail: "totl: no field", errors: [.init(field: "totl", message: "no field")],
            document: document)
        await #expect {
            try await RecordWriting.explaining(["totl=5"]) { () throws(LocalAPIError) in throw .problem(problem) }
        } throws: { error in
            (error as? CommandFailure)?.message == "totl: no field"
        }
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
