import JSONText
import Testing

@Suite("Text that was validated")
struct CheckedTextTests {
    /// Before, between and after what is looked at together, in each length around it.
    @Test(
        "a string ends at its own quote, wherever an escape stands",
        arguments: ["", #"\""#, #"\\"#, #"\\\""#, #"\u0022"#, "é"])
    func ends(_ escape: String) throws {
        for before in 0...40 {
            for after in [0, 1, 7, 8, 9, 40] {
                let string =
                    "\"" + String(repeating: "x", count: before) + escape + String(repeating: "]", count: after) + "\""
                let array = try JSONText(parsing: "[\(string),\(string),1]")
                #expect(array.elements.map(\.text) == [string, string, "1"])
                let object = try JSONText(parsing: "{\(string):\(string),\"last\":{\(string):2}}")
                let name = try #require(try JSONText(parsing: string).string)
                #expect(object.members.map(\.key) == [name, "last"])
                #expect(object[name]?.text == string)
                #expect(object["last"]?.text == "{\(string):2}")
            }
        }
    }

    @Test("a string that does not end reaches to the end of the text", arguments: [1, 7, 8, 9, 40])
    func open(_ count: Int) {
        var text = "\"" + String(repeating: "x", count: count)
        let end = text.withUTF8 { CheckedJSON.endOfString($0, from: 0) }
        #expect(end == count + 1)
    }

    @Test("members are found by their names as they are written, the first of each")
    func finder() throws {
        let names = ["id", "it", "at", "id", "", "notes", "status", "über"] + (0..<200).map { "field\($0)" }
        let finder = JSONMemberFinder(names)
        let record = try JSONText(
            parsing: #"{"at":1,"":2,"über":3,"at":4,"\u0069t":5,"ID":6,"field199":null,"notes":"n","field7":{"id":7}}"#)
        var nulls: [Int] = []
        let values = finder.values(in: record) { nulls.append($0) }
        let found = zip(names, values).compactMap { name, value in value.map { "\(name) \($0.text)" } }
        #expect(found == ["at 1", " 2", #"notes "n""#, "über 3", #"field7 {"id":7}"#, "field199 null"])
        #expect(nulls == [names.count - 1])
        #expect(finder.values(in: try JSONText(parsing: #"{"id":1}"#)).compactMap(\.self).count == 1)
        #expect(finder.values(in: "text").allSatisfy { $0 == nil })
    }

    @Test("texts are escaped wherever it is needed, and names as well")
    func escapes() {
        let text = "a\"b\\\\c\u{1}\n\té\""
        #expect(JSONText.string(text).text == #""a\"b\\\\c\u0001\n\té\"""#)
        #expect(JSONText.object(members: [(key: text, value: 1)]).members.map(\.key) == [text])
        #expect(JSONText.object(members: [(key: String, value: JSONText)]()).text == "{}")
        #expect(JSONText.array(["a", "b"].lazy.map(JSONText.string)).text == #"["a","b"]"#)
    }

    @Test("the values of named members are replaced by those that changes have, and stay where they have none")
    func replaced() throws {
        let finder = JSONMemberFinder(["a", "b", "c"])
        var values = finder.values(in: try JSONText(parsing: #"{"a":1,"b":2}"#))
        finder.replace(&values, by: try JSONText(parsing: #"{"b":"two","c":[3],"other":4}"#))
        #expect(values == [1, "two", try JSONText(parsing: "[3]")])
        finder.replace(&values, by: try JSONText(parsing: "[]"))
        #expect(values == [1, "two", try JSONText(parsing: "[3]")])
    }

    @Test("over an empty object changes are set as they are, but each name once and without space around the parts")
    func overNothing() throws {
        for (changes, result) in [
            (#"{"a":1,"b":[2]}"#, #"{"a":1,"b":[2]}"#), (#"{ "a": 1, "b":2 }"#, #"{"a":1,"b":2}"#),
            (#"{"a":1,"b":2,"a":3}"#, #"{"a":3,"b":2}"#), ("{}", "{}"),
        ] {
            #expect(JSONText.object([:]).setting(try JSONText(parsing: changes)).text == result)
        }
        #expect(try JSONText.object([:]).laying(JSONText(parsing: #"{"a":null}"#)).isMergePatch == false)
        #expect(try JSONText.object([:]).laying(JSONText(parsing: #"{"a":[]}"#)).isMergePatch)
    }

    @Test("an array of strings is that of its elements")
    func strings() {
        for strings in [[], ["a"], ["a", "\"b\"", "é\n"]] {
            #expect(JSONText.array(of: strings) == JSONText.array(strings.map(JSONText.string)))
        }
    }
}
