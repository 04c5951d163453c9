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

    @Test("the empty path is the value itself")
    func itself() { #expect(value.at(path: "") == value) }

    @Test("quotes stand around whole names", arguments: ["\"a", "a\"b", "\"a\"b", "\"a\".", "\"\"", ".\"a\""])
    func invalid(_ path: String) { #expect(!JSONPath.isValid(path)) }

    @Test("quotes around names are valid", arguments: ["a.b", "\"a.b\"", "a.\"b.c\".d", ""])
    func valid(_ path: String) { #expect(JSONPath.isValid(path)) }
}
