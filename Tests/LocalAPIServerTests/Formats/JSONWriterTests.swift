import JSONText
import Testing

@testable import LocalAPIServer

@Suite("Writing JSON")
struct JSONWriterTests {
    @Test("members are separated by commas at any depth, and missing values are null")
    func members() throws {
        var writer = JSONWriter(capacity: 8)
        writer.object { whole in
            whole.member("text", String("a \"b\"\n{"))
            whole.member("nothing", String?.none)
            whole.member("number", Int(-12))
            whole.member("unknown", Int?.none)
            whole.member("isTrue", true as Bool)
            whole.name("empty")
            whole.object { _ in }
            whole.name("näme \"x\"" as String)
            whole.object { inner in
                inner.member("isTrue", false as Bool)
                inner.member("list", JSONText.array([1, "["]))
                inner.name("text")
                inner.value(utf8: Array("a:".utf8))
            }
            whole.member("last", JSONText.object([:]))
        }
        let expected = #"""
            {"text":"a \"b\"\n{","nothing":null,"number":-12,"unknown":null,"isTrue":true,"empty":{},"näme \"x\"":{"isTrue":false,"list":[1,"["],"text":"a:"},"last":{}}
            """#
        #expect(writer.text.text == expected)
        #expect(try JSONText(writer.bytes) == writer.text)
    }
}
