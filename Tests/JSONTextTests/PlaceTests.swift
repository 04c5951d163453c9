import JSONText
import Testing

@Suite("Places in a value")
struct PlaceTests {
    private let value = JSONText(
        validated: Array(
            #"""
            {"data":{"total":3},"items":[{"id":"a","n":1},{"id":"b"},{"id":"c","n":null}],"@odata.count":7,"0":"zero",
             "value":[{"@odata.id":"x"}],"deep":[{"lines":[{"id":1},{"id":2}]},{"lines":[]}]}
            """#.utf8))

    @Test(
        "names, elements, all elements and names with dots",
        arguments: [
            ("data.total", "3"), ("items.0.id", "\"a\""), ("items.-1.id", "\"c\""), ("items.*.id", #"["a","b","c"]"#),
            ("items.*.n", "[1,null]"), ("items.*.none", "[]"), ("\"@odata.count\"", "7"), ("0", "\"zero\""),
            ("value.0.\"@odata.id\"", "\"x\""), ("deep.*.lines.*.id", "[[1,2],[]]"), ("deep.0.lines.-2.id", "1"),
            ("items.id=b.id", "\"b\""), ("items.n=1.id", "\"a\""), ("deep.*.lines.id=2", #"[{"id":2}]"#),
        ])
    func found(_ path: String, _ expected: String) {
        #expect(value.at(path: path)?.text == expected)
    }

    @Test(
        "what is not there is nil",
        arguments: [
            "items.3.id", "items.-4", "items.id", "items.x", "data.*", "data.0", "none.*.id", "@odata.count",
            "items.id=z", "items.=b", "data.total=3",
        ])
    func missing(_ path: String) {
        #expect(value.at(path: path) == nil)
    }

    @Test("a value is set at a place, and all else stays")
    func setting() throws {
        let value = try JSONText(parsing: #"{"a":{"b":1,"c":2},"l":[{"k":"x","v":1},{"k":"y","v":2}],"n":null}"#)
        for (path, expected) in [
            ("a.b", #"{"a":{"b":7,"c":2},"l":[{"k":"x","v":1},{"k":"y","v":2}],"n":null}"#),
            ("l.k=y.v", #"{"a":{"b":1,"c":2},"l":[{"k":"x","v":1},{"k":"y","v":7}],"n":null}"#),
            ("l.0", #"{"a":{"b":1,"c":2},"l":[7,{"k":"y","v":2}],"n":null}"#),
            ("n.d.e", #"{"a":{"b":1,"c":2},"l":[{"k":"x","v":1},{"k":"y","v":2}],"n":{"d":{"e":7}}}"#),
        ] {
            #expect(value.setting(7, at: path)?.text == expected)
        }
        for path in ["l.*.v", "l.2.v", "l.k=z.v", "a.b.x", "n.0"] { #expect(value.setting(7, at: path) == nil) }
    }

    @Test("the empty path is the value itself")
    func itself() { #expect(value.at(path: "") == value) }

    @Test("quotes stand around whole names", arguments: ["\"a", "a\"b", "\"a\"b", "\"a\".", "\"\"", ".\"a\""])
    func invalid(_ path: String) { #expect(!JSONPath.isValid(path)) }

    @Test("quotes around names are valid", arguments: ["a.b", "\"a.b\"", "a.\"b.c\".d", ""])
    func valid(_ path: String) { #expect(JSONPath.isValid(path)) }
}
