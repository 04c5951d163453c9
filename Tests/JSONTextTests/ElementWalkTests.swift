import JSONText
import Testing

@Suite("Walking over elements")
struct ElementWalkTests {
    private struct Found: Equatable {
        var element: String
        var values: [String]
    }

    private func walk(_ text: String, _ members: [String]) -> [Found] {
        var text = text
        return text.withUTF8 { bytes in
            var walk = JSONElementWalk(bytes, members: members)
            var found: [Found] = []
            while walk.next() {
                found.append(
                    Found(
                        element: String(decoding: bytes[walk.element], as: UTF8.self),
                        values: walk.values.map { String(decoding: bytes[$0], as: UTF8.self) }))
            }
            return found
        }
    }

    @Test("each element is reported with the wanted members, the first of a name")
    func members() {
        let found = walk(#" [ {"id" : "a", "x":{"id":1},"id":2} ,{"n":[1,{"id":3}]}, 7,"s"] "#, ["id", "n"])
        #expect(
            found == [
                Found(element: #"{"id" : "a", "x":{"id":1},"id":2}"#, values: [#""a""#, ""]),
                Found(element: #"{"n":[1,{"id":3}]}"#, values: ["", #"[1,{"id":3}]"#]),
                Found(element: "7", values: ["", ""]), Found(element: #""s""#, values: ["", ""]),
            ])
    }

    @Test("brackets, quotes and backslashes inside strings end nothing")
    func strings() throws {
        let text = #"[{"id":"\"}]{[,","x\\":"\\","y":"\\\""},{"id":true}]"#
        #expect(walk(text, ["id"]).map(\.values) == [[#""\"}]{[,""#], ["true"]])
        #expect(try JSONText(parsing: text).elements.map(\.text) == walk(text, []).map(\.element))
        #expect(try JSONText(parsing: text).elementCount == 2)
    }

    @Test("a value that is not an array has no elements", arguments: ["[]", " [ ] ", "{}", "7", ""])
    func none(_ text: String) { #expect(walk(text, ["id"]).isEmpty) }

    @Test(
        "invalid JSON never leads outside the text",
        arguments: ["[{", "[{\"", "[{\"id", "[{\"id\":", "[\"\\", "[1", "[,", "[[", "[{\"id\":\"a\\"])
    func broken(_ text: String) {
        for found in walk(text, ["id"]) { #expect(text.contains(found.element)) }
    }

    @Test("an array is left out of the value around it")
    func envelope() throws {
        let answer = try JSONText(parsing: #"{"data": [1,[2]] ,"total":3}"#)
        let data = try #require(answer["data"])
        #expect(answer.leavingOut(elementsOf: data).text == #"{"data": [] ,"total":3}"#)
        #expect(data.leavingOut(elementsOf: data).text == "[]")
        #expect(try answer.leavingOut(elementsOf: JSONText(parsing: "7")) == answer)
        let bundle = try JSONText(parsing: #"{"entry":[{"data":{"id":1}}],"total":3}"#)
        let through = try #require(bundle.at(path: "entry.*.data"))
        #expect(bundle.leavingOut(elementsOf: through) == bundle, "a list that was put together is no part")
    }
}
