import JSONText
import Testing

@Suite("JSON Merge Patch")
struct MergePatchTests {
    /// The examples of RFC 7396, appendix A.
    @Test(
        "every example of the RFC gives its result",
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, "{}"), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#), (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#),
            ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func examples(_ original: String, _ patch: String, _ result: String) throws {
        #expect(try JSONText(parsing: original).merged(with: JSONText(parsing: patch)).text == result)
    }

    @Test("a member that is removed may come back, and numbers keep their digits")
    func order() throws {
        let original = try JSONText(parsing: #"{"a":1.50,"b":2}"#)
        let patched = try original.merged(with: JSONText(parsing: #"{"b":null,"c":3.00,"b":4}"#))
        #expect(patched.text == #"{"a":1.50,"b":4,"c":3.00}"#)
    }
}
