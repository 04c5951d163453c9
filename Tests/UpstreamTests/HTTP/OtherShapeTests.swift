import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import Upstream

@Suite("An upstream that answers in another schema's shape")
struct OtherShapeTests {
    /// What the first list of `name` says when the upstream has answered with `body`.
    private func message(of name: String, _ body: String, others: [String]) async throws -> String? {
        let schema = try ProjectFiles.schema(name)
        let transport = ScriptedTransport { _ in
            HTTPResponse(
                status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(body.utf8))
        }
        let elsewhere = try others.flatMap { ListElsewhere.all(in: try ProjectFiles.schema($0)) }
        let upstream = HTTPUpstream(
            UpstreamAccess(
                plan: schema.upstream, baseURL: "https://shop.example", transport: transport, now: { Timestamp.sample }),
            token: nil, elsewhere: { elsewhere })
        let entity = try #require(schema.entities.first)
        let pull = try #require(entity.pull)
        do {
            _ = try await upstream.page(PageRequest(entity: entity.name, path: pull.path, list: pull.list))
            return nil
        } catch .malformed(let message) {
            return message
        }
    }

    @Test("each of the two Repair Minder schemas names the other when it fits")
    func each() async throws {
        let all = ["itori", "propdocs", "repairminder", "repairminder-live"]
        let live = #"{"success":true,"data":{"clients":[{"id":"c","email":"a@b.c"}],"pagination":{"total":1}}}"#
        let specified = #"{"success":true,"data":[{"id":"c","email":"a@b.c"}],"pagination":{"total":1}}"#
        #expect(
            try await message(of: "repairminder", live, others: all.filter { $0 != "repairminder" })
                == "/api/clients answered no list at data, but one at data.clients, where the schema repairminder-live "
                + "expects it; set schema: repairminder-live in the configuration and restart")
        #expect(
            try await message(of: "repairminder-live", specified, others: all.filter { $0 != "repairminder-live" })?
                .contains("set schema: repairminder in the configuration") == true)
        #expect(try await message(of: "repairminder", specified, others: all) == nil)
    }

    /// How many records an answer lists; nil if it is not taken for a list.
    private func count(
        _ status: Int, _ body: String, records: String = "records: _embedded.books", pull: String = "",
        fields: String = ""
    ) async throws -> Int? {
        do {
            return try await page(status, body, records: records, pull: pull, fields: fields)
        } catch UpstreamError.malformed {
            return nil
        }
    }

    private func page(
        _ status: Int, _ body: String, records: String, pull: String = "", fields: String = ""
    ) async throws -> Int {
        let transport = ScriptedTransport { _ in HTTPResponse(status: status, body: Array(body.utf8)) }
        let yaml = """
            schema: hal
            upstream: { pagination: { style: next_url, next: _links.next.href, total: page.totalElements } }
            entities: { books: { fields: { id: { type: string }\(fields) }, pull: { path: /books, \(records)\(pull) } } }
            """
        let schema = try EntitySchema(yaml: yaml, file: "hal.yaml")
        let upstream = HTTPUpstream(plan: schema.upstream, baseURL: "https://shop.example", transport: transport)
        let list = try #require(schema["books"]?.pull?.list)
        return try await upstream.page(PageRequest(entity: "books", path: "/books", list: list)).count
    }

    @Test("a list may be left out when it is empty, if the answer says so")
    func empty() async throws {
        #expect(try await count(200, #"{"_embedded":{"books":[{"id":"a"}]},"page":{"totalElements":1}}"#) == 1)
        #expect(try await count(200, #"{"_links":{},"page":{"totalElements":0}}"#) == 0)
        #expect(try await count(204, "") == 0)
        #expect(try await count(200, #"{"_links":{},"page":{"totalElements":3}}"#) == nil)
        #expect(try await count(200, #"{"_links":{}}"#) == nil)
        #expect(try await count(200, "") == nil)
        for books in ["{}", "\"\"", "false", "null"] {
            #expect(try await count(200, #"{"_embedded":{"books":\#(books)},"page":{"totalElements":0}}"#) == 0)
            #expect(try await count(200, #"{"_embedded":{"books":\#(books)},"page":{"totalElements":3}}"#) == nil)
            #expect(try await count(200, #"{"_embedded":{"books":\#(books)}}"#, pull: ", empty: _embedded") == 0)
        }
    }

    @Test("an answer that has what the schema calls empty, and no records, is an empty list")
    func said() async throws {
        let empty = ", empty: _embedded"
        #expect(try await count(200, #"{"_embedded":{},"time":"09:00"}"#, pull: empty) == 0)
        #expect(try await count(200, #"{"_embedded":null}"#, pull: empty) == 0)
        #expect(try await count(200, #"{"_embedded":{"books":null}}"#, pull: empty) == 0)
        #expect(try await count(200, #"{"_embedded":{"books":[{"id":"a"}]}}"#, pull: empty) == 1)
    }

    @Test(
        "where the list is the answer itself, or may be left out with all around it, an object may say that it is empty"
    )
    func outermost() async throws {
        let whole = "empty: error"
        #expect(try await count(200, #"[{"id":"a"}]"#, records: whole) == 1)
        #expect(try await count(200, #"{"error":{"code":404}}"#, records: whole) == 0)
        #expect(try await count(200, #"{"message":"wait"}"#, records: whole) == nil)
        #expect(try await count(200, "{}", pull: ", empty: {}") == 0)
        #expect(try await count(200, #"{"time":"09:00"}"#, pull: ", empty: {}") == nil)
        #expect(throws: SchemaError.self) { try EntitySchema.books("empty: { a: b }") }
        #expect(throws: SchemaError.self) { try EntitySchema.books(#"empty: ".""#) }
    }

    @Test("a list without elements says so too, as programs in PHP write an object without members")
    func emptyArray() async throws {
        #expect(try await count(200, "[]", pull: ", empty: {}") == 0)
        #expect(try await count(200, #"[{"id":"a"}]"#, pull: ", empty: {}") == nil)
        #expect(try await count(200, #"{"_embedded":[]}"#, pull: ", empty: _embedded") == 0)
        #expect(try await count(200, #"{"_embedded":[{"id":"a"}]}"#, pull: ", empty: _embedded") == nil)
        #expect(try await count(200, "[]") == nil)
    }

    @Test("a text or a number beside the list says so too, unless there is an error")
    func beside() async throws {
        let empty = ", empty: latest_time"
        #expect(try await count(200, #"{"latest_time":"2026-01-31T09:00:00Z"}"#, pull: empty) == 0)
        #expect(try await count(200, #"{"latest_time":7}"#, pull: empty) == 0)
        #expect(try await count(200, #"{"latest_time":"","other":1}"#, pull: empty) == nil)
        for other in [#"["a"]"#, "true", "false"] {
            #expect(try await count(200, #"{"latest_time":\#(other)}"#, pull: empty) == nil)
        }
        #expect(try await count(200, #"{"latest_time":"now","error":{"message":"broken"}}"#, pull: empty) == nil)
        let text = ", empty: error"
        #expect(try await count(200, #"{"error":"no books"}"#, pull: text) == 0)
        #expect(try await count(200, #"{"error":"no books","success":false}"#, pull: text) == nil)
    }

    @Test(
        "the total may be the last part of a range",
        arguments: [("0-0/250", 250), ("items 0-0/7", 7), ("0-0/*", nil)] as [(String, Int?)])
    func rangeOfList(_ range: String, _ total: Int?) async throws {
        let schema = try EntitySchema.books("pagination: { style: offset, total: { header: Content-Range } }")
        let transport = ScriptedTransport { _ in
            HTTPResponse.json(200, #"[{"id":"a"}]"#, [HTTPHeader("Content-Range", range)])
        }
        let upstream = HTTPUpstream(plan: schema.upstream, baseURL: "https://shop.example", transport: transport)
        let list = try #require(schema["books"]?.pull?.list)
        #expect(try await upstream.page(PageRequest(entity: "books", path: "/books", list: list)).total == total)
    }

    @Test(
        "without what the schema calls empty, or with something else for the records, it is no list",
        arguments: [
            #"{"time":"09:00"}"#, #"{"_embedded":"none"}"#, #"{"_embedded":{"books":{"name":"a"}}}"#,
            #"{"success":false,"_embedded":{}}"#,
        ])
    func unsaid(_ body: String) async throws {
        #expect(try await count(200, body, pull: ", empty: _embedded") == nil)
    }

    @Test(
        "a record in the place of the list is a list of one",
        arguments: [
            (#"{"_embedded":{"books":{"id":"a"}}}"#, 1), (#"{"_embedded":{"books":{"id":7,"size":NaN}}}"#, 1),
            (#"{"_embedded":{"books":{"id":""}}}"#, nil), (#"{"_embedded":{"books":{"a":{"id":"a"}}}}"#, nil),
            (#"{"success":false,"_embedded":{"books":{"id":"a"}}}"#, nil),
        ] as [(String, Int?)])
    func lone(_ body: String, _ count: Int?) async throws {
        #expect(try await self.count(200, body) == count)
    }

    @Test(
        "an object with a key in the place of the list is a record if it has most of the fields, or is counted as one",
        arguments: [
            (#"{"_embedded":{"books":{"id":"a","title":"x","about":{"isbn":null}}}}"#, 1),
            (#"{"_embedded":{"books":{"id":"err_1","message":"not now"}}}"#, nil),
            (#"{"_embedded":{"books":{"id":"err_1","title":"Not now"}}}"#, nil),
            (#"{"_embedded":{"books":{"id":"err_1","message":"not now"}},"page":{"totalElements":7}}"#, nil),
            (#"{"_embedded":{"books":{"id":"a"}},"page":{"totalElements":1}}"#, 1),
        ] as [(String, Int?)])
    func alike(_ body: String, _ count: Int?) async throws {
        let fields = """
            , title: { type: string }, isbn: { type: string, from: about.isbn }, pages: { type: integer },
              label: { type: string, derive: { text: "{title}" } }
            """
        #expect(try await self.count(200, body, fields: fields) == count)
    }

    @Test(
        "a record that leaves out most fields is one if it has three of them, and nothing that the schema does not know",
        arguments: [
            (#"{"_embedded":{"books":{"id":"a","title":"x","pages":1,"about":{"isbn":"i"}}}}"#, 1),
            (#"{"_embedded":{"books":{"id":"err_1","title":"x","pages":1,"about":{},"message":"not now"}}}"#, nil),
            (#"{"_embedded":{"books":{"id":"err_1","title":"x","pages":1}}}"#, nil),
        ] as [(String, Int?)])
    func sparse(_ body: String, _ count: Int?) async throws {
        let fields = """
            , title: { type: string }, isbn: { type: string, from: about.isbn }, pages: { type: integer },
              weight: { type: integer }, color: { type: string }, cover: { type: string }, price: { type: integer }
            """
        #expect(try await self.count(200, body, fields: fields) == count)
    }

    @Test(
        "a place with * at its end finds the records that an object has as its members, too",
        arguments: [
            (#"{"list":{"7":{"id":7},"9":{"id":9}}}"#, 2), (#"{"list":[{"id":7}]}"#, 1), (#"{"list":[]}"#, 0),
            (#"{"list":{}}"#, 0), (#"{"list":{"7":{"id":7},"error":"slow"}}"#, nil), (#"{"list":"none"}"#, nil),
        ] as [(String, Int?)])
    func members(_ body: String, _ count: Int?) async throws {
        #expect(try await self.count(200, body, records: "records: list.*") == count)
    }

    @Test(
        "the lists in all elements of a list are one",
        arguments: [
            (#"{"shelves":[{"books":[{"id":"a"}]},{"books":[]},{"name":"new"},{"books":[{"id":"b"},{"id":"c"}]}]}"#, 3),
            (#"{"shelves":[{"books":[]}]}"#, 0), (#"{"shelves":[]}"#, 0), (#"{"shelves":[{"books":{"id":"a"}}]}"#, 1),
        ])
    func groups(_ body: String, _ count: Int) async throws {
        #expect(try await self.count(200, body, records: "records: shelves.*.books") == count)
    }

    @Test("a place that is * alone finds them in the answer itself, and no other place")
    func outerMembers() async throws {
        let body = #"{"a":{"id":"a"},"b":{"id":"b"}}"#
        #expect(try await count(200, body, records: #"records: "*""#) == 2)
        #expect(try await count(200, body, records: "empty: error") == nil)
    }

    @Test("records as the members of an object are named in the error")
    func namedMembers() async throws {
        let body = #"{"success":true,"data":{"clients":{"a":{"id":"a"},"b":{"id":"b"}}}}"#
        #expect(
            try await message(of: "repairminder-live", body, others: [])
                == "/api/clients answered no list at data.clients, but an object with a record in each member; set records: "
                + "data.clients.*")
    }

    @Test("a member that is no record beside records as members is named in the error")
    func strayMember() async throws {
        let body = #"{"contacts":{"a":{"id":"a"},"count":1}}"#
        await #expect(
            throws: UpstreamError.malformed(
                "/books answered no list at contacts.*, but an object whose member count is no record")
        ) { try await page(200, body, records: "records: contacts.*") }
        await #expect(
            throws: UpstreamError.malformed("/books answered no list at *, but an object whose member n is no record")
        ) { try await page(200, #"{"a":{"id":"a"},"n":null}"#, records: #"records: "*""#) }
    }

    @Test("an object with a key that is no record is named in the error")
    func unlike() async throws {
        let body = #"{"success":true,"data":{"clients":{"id":"err_1","message":"not now"}}}"#
        #expect(
            try await message(of: "repairminder-live", body, others: [])
                == "/api/clients answered no list at data.clients, but an object with id that has too few of the schema's "
                + "fields for a record")
    }

    @Test("a record in the place of an answer that would be the list itself is none")
    func loneAnswer() async throws {
        #expect(try await count(200, #"{"id":"a"}"#, records: "mode: full") == nil)
    }

    @Test("without the key such an answer is refused, with the key to set")
    func advice() async throws {
        #expect(try await count(200, #"{"_embedded":{}}"#) == nil)
        #expect(
            try await message(of: "repairminder-live", #"{"success":true,"data":{}}"#, others: [])?.contains(
                "but an object at data; if that is how it says that there are none, set empty: data beside records")
                == true)
    }

    @Test("so is an empty list in place of all")
    func adviceOnEmptyArray() async throws {
        #expect(
            try await message(of: "repairminder-live", "[]", others: [])
                == "/api/clients answered no list at data.clients, but []; if that is how it says that there are none, set "
                + "empty: {} beside records in the schema")
    }

    @Test("an answer that denies success says why, in its own words")
    func denied() async throws {
        #expect(
            try await message(of: "repairminder-live", #"{"success":false,"error":"Try again later"}"#, others: [])
                == "/api/clients answered 200 that there is no list: Try again later")
    }

    @Test("an answer that fits none is just no list")
    func none() async throws {
        #expect(
            try await message(of: "repairminder", #"{"success":true,"data":{}}"#, others: ["repairminder-live"])
                == "/api/clients answered no list at data")
    }
}

extension EntitySchema {
    fileprivate static func books(_ pull: String) throws -> EntitySchema {
        let yaml = """
            schema: s
            upstream: { base_url: http://localhost }
            entities: { books: { fields: { id: { type: string } }, pull: { path: /books, \(pull) } } }
            """
        return try EntitySchema(yaml: yaml, file: "s.yaml")
    }
}
