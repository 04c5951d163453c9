import Testing

@testable import JSONText

@Suite("Replacing values in places")
struct ReplacingTests {
    private let places = JSONPlaces([
        [.member("a")], [.member("b"), .member("c")], [.member("list"), .elements, .member("a")],
    ])

    @Test(
        "places are found, and all else stays byte for byte",
        arguments: [
            (#"{"a":1}"#, #"{"a":"0:1"}"#),
            (#"{ "x": 1.50, "a" : [1, 2] , "y":{"a":1}}"#, #"{ "x": 1.50, "a" : "0:[1, 2]" , "y":{"a":1}}"#),
            (#"{"b":{"c":true,"a":1},"c":2}"#, #"{"b":{"c":"1:true","a":1},"c":2}"#),
            (#"{"list":[{"a":1},5,{"b":{"c":1},"a":2}]}"#, #"{"list":[{"a":"2:1"},5,{"b":{"c":1},"a":"2:2"}]}"#),
            ("7", "7"), ("{}", "{}"), (#"{"b":7,"list":"a"}"#, #"{"b":7,"list":"a"}"#),
        ])
    func replaced(_ text: String, _ expected: String) throws {
        #expect(try marked(text) == expected)
    }

    @Test(
        "places are found in a list in the place of an object, and in an object in the place of a list",
        arguments: [
            (#"{"b":[{"c":1},5, [{"c":2}]]}"#, #"{"b":[{"c":"1:1"},5, [{"c":"1:2"}]]}"#),
            (#"{"list":{"a":1},"x":2}"#, #"{"list":{"a":"2:1"},"x":2}"#),
            (#"{"list":[[{"a":1}]]}"#, #"{"list":[[{"a":"2:1"}]]}"#),
            (#"[{"a":1},[]]"#, #"[{"a":"0:1"},[]]"#),
        ])
    func otherShapes(_ text: String, _ expected: String) throws {
        #expect(try marked(text) == expected)
    }

    @Test(
        "a duplicate name keeps its first member, and an escaped name is rewritten plainly",
        arguments: [
            (#"{"a":1,"x":2 , "a":3}"#, #"{"a":"0:1","x":2}"#),
            (#"{"a":1,"\u0061":3,"x":2}"#, #"{"a":"0:1","x":2}"#),
            (#"{"\u0062":{"\u0063":1}}"#, #"{"b":{"c":"1:1"}}"#),
            (#"{"b":{"c":1},"b":{"c":2}}"#, #"{"b":{"c":"1:1"}}"#),
            (#"{"x":1,"x":2}"#, #"{"x":1,"x":2}"#),
        ])
    func once(_ text: String, _ expected: String) throws {
        #expect(try marked(text) == expected)
    }

    @Test(
        "members are removed at any position",
        arguments: [
            (#"{"a":1}"#, "{}"), (#"{ "a":1, "x":2}"#, #"{ "x":2}"#), (#"{"x":2, "a":1 }"#, #"{"x":2 }"#),
            (#"{"x":1,"a":2,"y":3}"#, #"{"x":1,"y":3}"#), (#"{"a":1,"a":2,"x":3}"#, #"{"x":3}"#),
            (#"{"x":3,"a":1,"\u0061":2}"#, #"{"x":3}"#), (#"{"\u0061":1,"b":{"c":2}}"#, #"{"b":{}}"#),
            (#"{"a":1,"b":{"c":2},"list":[{"a":1}]}"#, #"{"b":{},"list":[{}]}"#),
            (#"{"a":1,"a":2}"#, "{}"),
        ])
    func cut(_ text: String, _ expected: String) throws {
        let result = try JSONText(parsing: text).replacing(places) { (_, _) -> JSONText? in nil }
        #expect(result.text == expected)
    }

    @Test("some members of an object are removed, others replaced")
    func mixed() throws {
        let places = JSONPlaces([[.member("a")], [.member("b")], [.member("c")]])
        for (text, expected) in [
            (#"{"a":1,"b":2,"c":3}"#, #"{"b":"!"}"#), (#"{"b":1,"a":2,"c":3,"x":4}"#, #"{"b":"!","x":4}"#),
            (#"{"a":1,"c":2,"x":0,"b":3}"#, #"{"x":0,"b":"!"}"#),
        ] {
            let result = try JSONText(parsing: text).replacing(places) { place, _ in place == 1 ? "!" : nil }
            #expect(result.text == expected)
        }
    }

    @Test("a removed element becomes null")
    func elements() throws {
        let places = JSONPlaces([[.elements]])
        #expect(try JSONText(parsing: "[1,2]").replacing(places) { (_, _) -> JSONText? in nil }.text == "[null,null]")
    }

    @Test("the first failure is thrown, and nothing is called after it")
    func failure() throws {
        struct Failure: Error {}
        var asked = 0
        let text = try JSONText(parsing: #"{"a":1,"b":{"c":2}}"#)
        #expect(throws: Failure.self) {
            _ = try text.replacing(places) { _, _ in
                asked += 1
                throw Failure()
            }
        }
        #expect(asked == 1)
    }

    private func marked(_ text: String) throws -> String {
        try JSONText(parsing: text).replacing(places) { place, value in .string("\(place):\(value.text)") }.text
    }
}
