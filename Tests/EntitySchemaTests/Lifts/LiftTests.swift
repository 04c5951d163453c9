import JSONText
import Testing

@testable import EntitySchema

@Suite("Members that records get from other places")
struct LiftTests {
    private func lifted(_ record: String, _ source: Lift.Source, isNumber: Bool = false) throws -> String {
        let lift = Lift([Lift.Member(name: "id", source: source, isNumber: isNumber)])
        return lift.lifted(try JSONText(parsing: record)).text
    }

    @Test("a value stands at the front, and all else stays byte for byte")
    func value() throws {
        #expect(
            try lifted(#"{ "sys" : {"id":"a\u0031"}, "n":1.50 }"#, .value("sys.id"))
                == #"{"id":"a\u0031", "sys" : {"id":"a\u0031"}, "n":1.50 }"#)
        #expect(try lifted(#"{"$id":{"value":"7"}}"#, .value("$id.value")) == #"{"id":"7","$id":{"value":"7"}}"#)
        #expect(try lifted(#"{"sys":{"id":12}}"#, .value("sys.id")) == #"{"id":12,"sys":{"id":12}}"#)
    }

    @Test("a null is lifted, so that it can take the place of a value")
    func null() throws {
        #expect(try lifted(#"{"sys":{"id":null}}"#, .value("sys.id")) == #"{"id":null,"sys":{"id":null}}"#)
    }

    @Test(
        "what is no key is not lifted",
        arguments: [
            #"{"sys":{}}"#, #"{"sys":null}"#, #"{"sys":{"id":{}}}"#, #"{"sys":{"id":true}}"#, "{}", "[1]", "7",
        ])
    func nothing(_ record: String) throws {
        #expect(try lifted(record, .value("sys.id")) == record)
    }

    @Test("a member of the same name gives way, also when there is nothing to take its place")
    func displaced() throws {
        #expect(try lifted(#"{"id":1,"sys":{"id":"a"}}"#, .value("sys.id")) == #"{"id":"a","sys":{"id":"a"}}"#)
        #expect(try lifted(#"{"id":1,"sys":{}}"#, .value("sys.id")) == #"{"sys":{}}"#)
    }

    @Test(
        "the last segment of a link is its path's",
        arguments: [
            ("https://api.example/v2/contacts/2", "2"), ("https://api.example/v2/contacts/2/", "2"),
            ("/people/a%2Fb?fields=x/y", "a/b"), ("http://localhost:8080/people/1{?projection}", "1"),
            ("people/1#top", "1"), ("projects/p/databases/(default)/documents/todos/x1", "x1"), ("7", "7"),
        ])
    func links(_ link: String, _ key: String) throws {
        let lift = Lift([Lift.Member(name: "id", source: .link("url"))])
        let record = lift.lifted(.object(["url": .string(link)]))
        #expect(record["id"] == .string(key) && record["url"] == .string(link))
    }

    @Test(
        "an address without a path has no last segment, nor one with more marks in a row than a record may have",
        arguments: [
            "https://api.example", "https://api.example/", "", "/", "/a" + String(repeating: "%CC%81", count: 129),
        ])
    func noSegment(_ link: String) throws {
        let lift = Lift([Lift.Member(name: "id", source: .link("url"))])
        #expect(lift.lifted(.object(["url": .string(link)]))["id"] == nil)
    }

    @Test("a part that a record lacks is taken from one that is known, if the record has another part itself")
    func completed() throws {
        let parts = Lift([Lift.Member(name: "id", source: .parts(["order_id", "line_no"]))])
        let lift = parts.completed(from: .object(["order_id": 7, "line_no": 1]))
        let line = lift.lifted(try JSONText(parsing: #"{"line_no":2,"order_id":null,"n":1}"#))
        #expect(line.text == #"{"id":"7~2","line_no":2,"order_id":7,"n":1}"#)
        #expect(lift.lifted(.object(["line_no": 2]))["order_id"] == 7)
        #expect(lift.lifted(.object(["order_id": 8]))["id"] == "8~1")
        #expect(lift.lifted(.object(["message": "queued"])).text == #"{"message":"queued"}"#)
        #expect(parts.lifted(.object(["line_no": 2]))["id"] == nil)
    }

    @Test("a key of a link is a number if the field is one")
    func numbers() throws {
        let source = Lift.Source.link("url")
        #expect(try lifted(#"{"url":"/a/12"}"#, source, isNumber: true) == #"{"id":12,"url":"/a/12"}"#)
        #expect(try lifted(#"{"url":"/a/012"}"#, source, isNumber: true) == #"{"id":"012","url":"/a/012"}"#)
        #expect(try lifted(#"{"url":"/a/12"}"#, source) == #"{"id":"12","url":"/a/12"}"#)
    }

    @Test("several parts are one text, and different parts never the same")
    func parts() throws {
        let source = Lift.Source.parts(["order", "line.no"])
        #expect(
            try lifted(#"{"order":1001,"line":{"no":"2"}}"#, source)
                == #"{"id":"1001~2","order":1001,"line":{"no":"2"}}"#)
        for (order, line, key) in [("a~b", "c", "a%7Eb~c"), ("a", "b~c", "a~b%7Ec"), ("a%7Eb", "c", "a%257Eb~c")] {
            let record = JSONText.object(["order": .string(order), "line": .object(["no": .string(line)])])
            #expect(Lift([Lift.Member(name: "id", source: source)]).lifted(record)["id"] == .string(key))
        }
        #expect(try lifted(#"{"order":1001,"line":{"no":null}}"#, source) == #"{"order":1001,"line":{"no":null}}"#)
    }

    @Test("records in the members of an object get the members' names")
    func names() throws {
        var list = ListPlan(style: .single, size: nil, pageSize: 100, total: nil, records: Place(paths: ["*"]))
        list.lift = Lift([Lift.Member(name: "id", source: .name)])
        let answer = try JSONText(parsing: #"{"-Na":{"title":"A"},"-Nb":{"id":4,"title":"B"}}"#)
        #expect(list.found(in: answer)?.text == #"[{"id":"-Na","title":"A"},{"id":"-Nb","title":"B"}]"#)
        #expect(list.found(in: try JSONText(parsing: #"{"-Na":{"title":"A"},"n":4}"#)) == nil)
    }

    @Test("an object named by whole numbers may come as a list with nulls in its gaps")
    func namesOfNumbers() throws {
        var list = ListPlan(style: .single, size: nil, pageSize: 100, total: nil, records: Place(paths: ["rows.*"]))
        list.lift = Lift([Lift.Member(name: "id", source: .name)])
        func found(_ rows: String) throws -> String? {
            list.found(in: try JSONText(parsing: #"{"rows":\#(rows)}"#))?.text
        }
        #expect(
            try found(#"[null,{"title":"A"},null,{"id":3,"title":"C"}]"#)
                == #"[{"id":"1","title":"A"},{"id":"3","title":"C"}]"#)
        #expect(try found("[]") == "[]")
        #expect(try found(#"[{"id":7,"title":"A"}]"#) == #"[{"id":7,"title":"A"}]"#, "the list has another order")
    }

    @Test("a single record in place of a list is known by the place of its key")
    func lone() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: small
                upstream: { records: rows }
                entities:
                  notes:
                    key: { field: id, from: sys.id }
                    fields: { id: { type: string }, title: { type: string } }
                    pull: { path: /notes }
                """, file: "small.yaml")
        let list = try #require(schema["notes"]?.pull?.list)
        let answer = try JSONText(parsing: #"{"rows":{"sys":{"id":"a"},"title":"A"}}"#)
        #expect(list.found(in: answer)?.text == #"[{"id":"a","sys":{"id":"a"},"title":"A"}]"#)
    }
}
