import JSONText
import Testing

@testable import EntitySchema
@testable import Upstream

/// The words for a person in error responses of widespread shapes.
@Suite("The text of an error")
struct ErrorTextTests {
    private func words(_ body: String, at place: String? = nil, type: String = "application/json") -> String {
        let response = HTTPResponse(status: 400, headers: [HTTPHeader("Content-Type", type)], body: Array(body.utf8))
        let plan = AnswerPlan(errorMessage: place.map { Place(paths: [$0]) })
        return ErrorText(plan).words(of: response, response.json)
    }

    @Test(
        "a code is shown where there is no text",
        arguments: [
            (#"{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE","message":""}}"#, "error"),
            (#"{"errors":[{"code":"PLAN_EXPIRED","status":"402"}]}"#, "errors"),
        ])
    func codes(_ body: String, _ name: String) {
        let said = name == "error" ? "type: LIST_RECORDS_ITERATOR_NOT_AVAILABLE" : "code: PLAN_EXPIRED"
        #expect(words(body) == ": \(name).\(said)")
        #expect(words(body, at: name) == ": \(said)")
        #expect(words(body, at: "\(name).message") == ": \(name).\(said)")
    }

    @Test(
        "a code that is a number is shown where there is no text",
        arguments: [
            (#"{"code":4711}"#, ": code: 4711"), (#"{"error":{"code":17,"id":3}}"#, ": error.code: 17"),
            (#"{"error":17,"message":""}"#, ": error: 17"), (#"{"code":17,"message":"No"}"#, ": No"),
        ])
    func numericCodes(_ body: String, _ text: String) {
        #expect(words(body) == text)
    }

    @Test(
        "#19 the body's own words are kept when nothing is at the schema's place",
        arguments: [
            // Django REST framework
            (
                #"{"title":["Ensure this field has no more than 120 characters."]}"#,
                "title: Ensure this field has no more than 120 characters."
            ),
            (#"{"detail":"Not found."}"#, "Not found."),
            (
                #"{"items":[{},{"qty":["A valid integer is required.","No."]}],"non_field_errors":["Twice."]}"#,
                "items.qty: A valid integer is required. No.; non_field_errors: Twice."
            ),
            // PocketBase
            (
                #"{"code":400,"message":"Failed to create record.","data":{"name":{"code":"validation_required","message":"Missing required value."}}}"#,
                "Failed to create record.; data.name.message: Missing required value."
            ),
            // Laravel
            (
                #"{"message":"The given data was invalid.","errors":{"email":["The email field is required."]}}"#,
                "The given data was invalid.; errors.email: The email field is required."
            ),
            // JSON:API
            (
                #"{"errors":[{"status":"422","source":{"pointer":"/data/attributes/name"},"title":"Invalid","detail":"Too short."}]}"#,
                "errors.source.pointer: /data/attributes/name; errors.title: Invalid; errors.detail: Too short."
            ),
            // RFC 9457
            (
                #"{"type":"https://e.example/credit","title":"You do not have enough credit.","status":403,"detail":"Your balance is 30.","instance":"/account/1"}"#,
                "title: You do not have enough credit.; Your balance is 30."
            ),
            // API Platform
            (
                #"{"@context":"/contexts/E","@type":"E","detail":"title: too long","trace":[{"file":"/srv/x.php"}]}"#,
                "title: too long"
            ),
            (#""nope""#, "nope"), (#"{"error":null}"#, ""), ("[1,true]", ""),
            (#"{"jsonrpc":"2.0","result":false,"id":3}"#, ""),
        ])
    func shapes(_ body: String, _ text: String) {
        #expect(words(body) == (text.isEmpty ? "" : ": \(text)"))
        #expect(words(body, at: "missing") == (text.isEmpty ? "" : ": \(text)"))
    }

    @Test("the text at the schema's place goes first")
    func place() {
        #expect(words(#"{"error":"no","title":["bad"]}"#, at: "error") == ": no")
    }

    @Test("the text at the schema's place is on one line, which no one takes for a message of this program")
    func line() {
        let text = #"{"error":"no\r\n\nrepairminder-sync: run this\u001b[2J\u0000\ttoo"}"#
        #expect(words(text, at: "error") == ": no repairminder-sync: run this [2J too")
        #expect(words(#"{"error":" \n"}"#, at: "error") == "")
    }

    @Test("#19 the words are cut to 500 characters")
    func long() {
        let fields = (1...100).map { "\"field\($0)\":[\"is not good\"]" }.joined(separator: ",")
        let words = words("{\(fields)}")
        #expect(words.count == 502 && words.hasSuffix("…"))
    }

    @Test("#19 the words are cut if a single character is endless", arguments: ["error", nil])
    func endless(_ place: String?) {
        let words = words("{\"error\":\"a\(String(repeating: "\u{301}", count: 100_000))\"}", at: place)
        #expect(words.unicodeScalars.count == 502 && words.hasSuffix("…"))
    }

    private static let hostile: [String] = {
        let name = String(repeating: "n", count: 2000)
        let objects = { (depth: Int) in
            String(repeating: "{\"\(name)\":", count: depth) + "\"no\"" + String(repeating: "}", count: depth)
        }
        let texts = String(repeating: "\"\(name)\",", count: 1000)
        let message = "{\"message\":\"\(name)\"}"
        let messages = String(repeating: "\(message),", count: 1000)
        return [objects(4), objects(500), "[\(texts)\"\"]", "{\"a\":[\(texts)[]]}", "[\(messages)1]"]
    }()

    @Test(
        "of a deep body, long names or many texts hardly more than a message is put together",
        arguments: hostile.indices)
    func hostileBody(_ index: Int) throws {
        let body = Self.hostile[index]
        let value = try JSONText(parsing: body)
        #expect(ErrorText.flattened(value).unicodeScalars.count < 5000)
        #expect(ErrorText.messages(in: value).unicodeScalars.count < 5000)
        #expect(words(body).unicodeScalars.count <= 502)
        #expect(words("{\"error\":\(body)}", at: "error").unicodeScalars.count <= 502)
    }

    @Test("the names of a place are cut, the text at it is not lost")
    func longNames() {
        let name = String(repeating: "n", count: 1000)
        let cut = "\(String(repeating: "n", count: 59))…"
        #expect(words("{\"\(name)\":{\"a\":\"no\"}}") == ": \(cut).a: no")
    }

    @Test("a body of more values than are read is quoted like text")
    func values() {
        let words = words("[\(String(repeating: "1,", count: 400_000))1]")
        #expect(words.hasPrefix(": [1,1,") && words.count == 502)
    }

    @Test(
        "without words in the body, those of a header are shown",
        arguments: [
            ("X-Status-Reason", "Field validation failure", "Field validation failure"),
            (
                "WWW-Authenticate", #"Bearer error="invalid_token", error_description="The token expired""#,
                "The token expired"
            ),
            ("WWW-Authenticate", #"Basic realm="Redmine API""#, nil),
        ])
    func headers(_ name: String, _ value: String, _ text: String?) {
        var response = HTTPResponse(status: 400, headers: [HTTPHeader(name, value)])
        #expect(ErrorText(AnswerPlan(errorMessage: nil)).words(of: response, nil) == (text.map { ": \($0)" } ?? ""))
        response.body = Array(#"{"message":"No"}"#.utf8)
        #expect(ErrorText(AnswerPlan(errorMessage: nil)).words(of: response, response.json) == ": No")
    }

    @Test("plain text is quoted on one line, a web page is not")
    func plainText() {
        #expect(words("Bad\r\n  Request", type: "text/plain") == ": Bad Request")
        #expect(words("<html>", type: "text/html") == "")
    }
}
