import JSONText
import Testing

@testable import CacheStore

@Suite("Lists of objects in which servers fill in members")
struct FilledListTests {
    private func isShown(_ sent: String, _ shown: String, _ before: String = "[]") throws -> Bool {
        var room = 1_000_000
        return try FilledList(sent: JSONText(parsing: sent), before: JSONText(parsing: before))
            .isShown(by: JSONText(parsing: shown), within: &room)
    }

    @Test(
        "a list is what was sent if it only has more members than before, in any order",
        arguments: [
            (#"[{"sku":"x"}]"#, #"[{"id":7,"sku":"x"}]"#, "[]"),
            (#"[{"id":7,"n":2},{"n":1}]"#, #"[{"id":7,"n":2},{"id":8,"n":1.0}]"#, #"[{"id":7,"n":1}]"#),
            (#"[{"id":7,"n":2},{"n":1}]"#, #"[{"id":7,"n":2,"at":9},{"id":8,"n":1}]"#, #"[{"id":7,"n":1,"at":5}]"#),
            (#"[{"sku":"x"},{"sku":"y"}]"#, #"[{"id":1,"sku":"y"},{"id":2,"sku":"x"}]"#, "[]"),
            (#"[{"sku":"x"},{"sku":"x","n":2}]"#, #"[{"id":1,"sku":"x","n":2},{"id":2,"sku":"x"}]"#, "[]"),
            (#"[{"id":7,"n":3}]"#, #"[{"id":7,"n":3,"discount":5}]"#, #"[{"id":7,"n":2,"discount":5}]"#),
            (#"[{"id":8},{"id":2}]"#, #"[{"id":2,"as":"b"},{"id":8,"as":"h"}]"#, #"[{"id":2,"as":"b"},{"id":6}]"#),
            (#"[{"sku":"x"}]"#, #"[{"id":2,"sku":"x"}]"#, #"[{"id":1,"sku":"x"}]"#),
            (#"[{"name":"Zed "}]"#, #"[{"id":1,"name":"zed"}]"#, "[]"),
            (#"[{"id":1,"price":"8"}]"#, #"[{"id":1,"price":"8.00"}]"#, #"[{"id":1,"price":"7.00"}]"#),
            (#"[{"sku":"x","at":{"a":1},"note":null}]"#, #"[{"id":1,"sku":"x","at":{"a":1,"b":2}}]"#, "[]"),
        ])
    func filled(_ sent: String, _ shown: String, _ before: String) throws {
        #expect(try isShown(sent, shown, before))
    }

    @Test(
        "a list is not what was sent if an object has another value, lacks one, or has those that were to be removed",
        arguments: [
            (#"[{"sku":"x"}]"#, #"[{"id":7,"sku":"y"}]"#, "[]"),
            (#"[{"sku":"x","n":1}]"#, #"[{"id":7,"sku":"x"}]"#, "[]"),
            (#"[{"sku":"x","n":1}]"#, #"[{"id":7,"sku":"x","at":5}]"#, "[]"),
            (#"[{"sku":"x"}]"#, #"[{"id":7,"sku":"x"},{"id":8,"sku":"y"}]"#, "[]"),
            (#"[{"id":7,"n":2}]"#, #"[{"id":7,"n":2,"discount":5}]"#, #"[{"id":7,"n":2,"discount":5,"at":1}]"#),
            (#"[{"n":"McKay"}]"#, #"[{"n":"mckay","at":2}]"#, #"[{"n":"mckay","at":1}]"#),
            (#"[{"sku":"x"},{"sku":"x"}]"#, #"[{"id":1,"sku":"x"},{"id":2,"sku":"y"}]"#, "[]"),
            (#"[{"sku":"x"},{"sku":"y"}]"#, #"[{"sku":"y"},{"sku":"x"}]"#, "[]"),
            (#"[1]"#, #"[2]"#, "[]"),
            (#"[]"#, #"[{"id":7}]"#, "[]"),
        ])
    func others(_ sent: String, _ shown: String, _ before: String) throws {
        #expect(try !isShown(sent, shown, before))
    }

    @Test("a list is not what was sent if very much must be compared for that", arguments: [(9, true), (80, false)])
    func nearlyFitting(_ count: Int, _ isFound: Bool) throws {
        // Each object that the server shows has a note that differs only in its end from those of all objects before.
        let text = String(repeating: "x", count: 3200)
        let objects = { (members: (Int) -> String) in
            "[" + (0..<count).map { "{\(members($0))}" }.joined(separator: ",") + "]"
        }
        let sent = objects { #""sku":\#($0)"# }
        let shown = objects { #""sku":\#($0),"note":["\#(text)\#($0)"]"# }
        let before = objects { #""sku":\#($0),"note":["\#(text)-\#($0)"]"# }
        #expect(try isShown(sent, shown, before) == isFound)
    }

    @Test("the lists of one transaction share what may be compared")
    func shared() throws {
        let list = try FilledList(sent: JSONText(parsing: #"[{"sku":"x"}]"#), before: JSONText(parsing: "[]"))
        let shown = try JSONText(parsing: #"[{"id":7,"sku":"x"}]"#)
        // One list costs three: the value that is compared, and the two members of the object that is shown.
        var room = 4
        let found = (0..<3).map { _ in list.isShown(by: shown, within: &room) }
        #expect(found == [true, false, false])
    }
}
