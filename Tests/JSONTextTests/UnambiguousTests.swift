import Testing

@testable import JSONText

@Suite("JSON without duplicate names")
struct UnambiguousTests {
    private func isTaken(_ text: String) -> Bool { (try? JSONText(unambiguous: Array(text.utf8))) != nil }

    @Test(
        "is accepted",
        arguments: [
            "{}", "[]", #"{"a":1,"b":2}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":2}]"#, #"{"a":1,"A":2}"#,
            #"{"a":{"b":1},"c":{"b":2}}"#, #"{"":1,"a":2}"#, #"{"ab":1,"ba":2}"#, #"{"\u0061":1,"b":2}"#,
            #"{"\#u{E9}":1,"e\#u{301}":2}"#, #"{"a":"\"a\":1","b":["a","a"]}"#,
        ])
    func taken(_ text: String) {
        #expect(isTaken(text))
    }

    @Test(
        "is rejected with a duplicate name in one object, at any depth and in any notation",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":null}"#, #"[[{"x":{"a":1,"a":2}}]]"#, #"{"a":{"b":1},"a":2}"#,
            #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#, #"{"\u0061":1,"\u0061":2}"#, #"{"":1,"":2}"#,
            #"{"x":{"y":1},"b":2,"x":3}"#, #"{ "a" : 1 , "a" : 2 }"#, #"{"a\/b":1,"a/b":2}"#,
        ])
    func refused(_ text: String) {
        #expect(!isTaken(text))
        #expect((try? JSONText(parsing: text)) != nil)
    }

    @Test("the error has the member and the byte offset")
    func message() throws {
        let error = #expect(throws: JSONError.self) { try JSONText(unambiguous: Array(#"{"id":1,"id":2}"#.utf8)) }
        #expect(error?.description == #"not JSON: a second member "id" in one object at byte 8"#)
        #expect(error?.withoutQuote.description == "not JSON: a second member … in one object at byte 8")
    }

    @Test("duplicates are found in objects of any size", arguments: [1, 2, 63, 64, 65, 66, 1000])
    func sizes(_ count: Int) {
        let members = (0..<count).map { #""name\#($0)":{"name0":\#($0)}"# }
        #expect(isTaken("{\(members.joined(separator: ","))}"))
        for index in [0, count / 2, count - 1] {
            #expect(!isTaken("{\((members + [members[index]]).joined(separator: ","))}"))
            #expect(!isTaken("{\((members + [#""\u006eame\#(index)":1"#]).joined(separator: ","))}"))
        }
    }

    @Test("agrees with a simple check of random objects")
    func random() {
        var seed = UInt64.random(in: 0..<1_000_000)
        let first = seed
        func next(_ limit: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % UInt64(limit))
        }
        for _ in 0..<500 {
            let names = (0..<next(12) + 1).map { _ in
                (0..<next(3) + 1).map { _ in ["x", "y", "z"][next(3)] }.joined()
            }
            let text = "{" + names.map { #""\#($0)":[{"x":1}]"# }.joined(separator: ",") + "}"
            #expect(isTaken(text) == (Set(names).count == names.count), "seed \(first): \(text)")
        }
    }

    @Test(
        "is otherwise checked as strictly as by the usual initialiser",
        arguments: ["", "{", #"{"a"}"#, #"{"a":1,}"#, "[1] 2", #"{"a":01}"#])
    func strict(_ text: String) {
        #expect(!isTaken(text))
    }
}
