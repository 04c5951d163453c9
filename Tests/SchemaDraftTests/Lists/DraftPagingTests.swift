import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting pages")
struct DraftPagingTests {
    private func list(_ parameters: [String], _ answer: String) throws -> SchemaDraft {
        let things = "data: { type: array, items: { type: object, properties: { id: { type: integer } } } }"
        let answers = SmallDocument.answers("type: object, properties: { \(things), \(answer) }")
        let path = "/things: { get: { parameters: [\(parameters.joined(separator: ", "))], \(answers) } }"
        return try SchemaDraft.of(SmallDocument(schemas: ["Thing: { type: object }"], paths: [path]).text)
    }

    private func parameter(_ name: String, _ type: String = "string", _ description: String = "what it says") -> String
    {
        "{ name: \(name), in: query, description: \"\(description)\", schema: { type: \(type) } }"
    }

    @Test("The next page's own member of a parameter's name is the cursor")
    func sameName() throws {
        let draft = try list(
            [parameter("limit", "integer"), parameter("offset")],
            "next_page: { type: object, properties: { offset: { type: string }, uri: { type: string } } }")
        #expect(
            draft.schema["things"]?.pull?.list.style
                == .cursor(parameter: "offset", next: Place(paths: ["next_page.offset"])))
    }

    @Test("A page's number and size may be in brackets, as Strapi has them")
    func brackets() throws {
        let names = ["pagination[page]", "pagination[pageSize]", "pagination[start]", "pagination[limit]"]
        let counts =
            "pagination: { type: object, properties: { page: { type: integer }, pageCount: { type: integer } } }"
        let draft = try list(
            names.map { parameter("\"\($0)\"", "integer") }, "meta: { type: object, properties: { \(counts) } }")
        let paging = try #require(draft.schema["things"]?.pull?.list)
        #expect(
            paging.style == .page(parameter: "pagination[page]", pages: Place(paths: ["meta.pagination.pageCount"])))
        #expect(draft.yaml.contains("pagination[pageSize]"), "\(draft.yaml)")
        #expect(!draft.yaml.contains("TODO pagination"))
    }

    @Test("A page's number and size may be parts of a search, as Magento has them")
    func search() throws {
        let names = ["searchCriteria[pageSize]", "searchCriteria[currentPage]"]
        let draft = try list(names.map { parameter("\"\($0)\"", "integer") }, "total_count: { type: integer }")
        let paging = try #require(draft.schema["things"]?.pull?.list)
        #expect(paging.style == .page(parameter: "searchCriteria[currentPage]", pages: nil), "\(draft.yaml)")
        #expect(paging.size == "searchCriteria[pageSize]")
        #expect(paging.total?.paths == ["total_count"])
    }

    @Test(
        "A page may be asked for by other names",
        arguments: [("limit_start", "limit_page_length"), ("$skip", "$limit")])
    func names(_ offset: String, _ size: String) throws {
        let draft = try list([offset, size].map { parameter("\"\($0)\"", "integer") }, "total: { type: integer }")
        let paging = try #require(draft.schema["things"]?.pull?.list)
        #expect(paging.style == .offset(parameter: offset) && paging.size == size, "\(draft.yaml)")
    }

    @Test("Laravel's pages are asked for by their number, because its links forget the size of a page")
    func laravel() throws {
        let links = "links: { type: object, properties: { next: { type: string } } }"
        let counts = "current_page: { type: integer }, last_page: { type: integer }, total: { type: integer }"
        let meta = "meta: { type: object, properties: { \(counts) } }"
        let draft = try list([parameter("per_page", "integer")], "\(links), \(meta)")
        let paging = try #require(draft.schema["things"]?.pull?.list)
        #expect(paging.style == .page(parameter: "page", pages: Place(paths: ["meta.last_page"])), "\(draft.yaml)")
        #expect(paging.size == "per_page")
        #expect(draft.todos.contains { $0.contains("check that page asks for the next page") }, "\(draft.todos)")
        let said = try list(["page", "per_page"].map { parameter($0, "integer") }, "\(links), \(meta)")
        #expect(!said.todos.contains { $0.contains("pagination") }, "\(said.todos)")
    }

    @Test("A parameter that only its words call one for pages is named in the report")
    func words() throws {
        let said = "Older things. Useful for pagination."
        let draft = try list([parameter("before", "integer", said)], "ok: { type: string }")
        #expect(draft.todos.contains { $0.contains("pagination: it has before") }, "\(draft.todos)")
        let other = try list([parameter("before", "integer", "Only things made before it")], "ok: { type: string }")
        #expect(!other.todos.contains { $0.contains("pagination") }, "\(other.todos)")
    }

    @Test("A switch or a filter that is called like the size of a page is none")
    func noSize() throws {
        for name in ["count", "size"] {
            let other = "{ name: \(name), in: query, schema: { type: boolean } }"
            let draft = try list([parameter("page", "integer"), other], "total: { type: integer }")
            let paging = try #require(draft.schema["things"]?.pull?.list)
            #expect(paging.style == .page(parameter: "page", pages: nil) && paging.size == nil, "\(draft.yaml)")
        }
    }

    @Test("With a cursor, the address of the next page comes before its number")
    func address() throws {
        let draft = try list(
            ["{ name: Page, in: query, schema: { type: integer, minimum: 0 } }", parameter("PageToken")],
            "next_page_uri: { type: string, format: uri }, page: { type: integer }")
        #expect(draft.schema["things"]?.pull?.list.style == .nextURL(Place(paths: ["next_page_uri"])))
    }

    @Test(
        "The first record of a page may be asked for by names of several conventions",
        arguments: [
            ("firstResult", "maxResults", "integer", "ok: { type: boolean }"),
            ("offset", "limit", "string", "total: { type: integer }"),
            ("SkipCount", "MaxResultCount", "integer", "totalCount: { type: integer }"),
        ])
    func offsets(offset: String, size: String, type: String, answer: String) throws {
        let draft = try list([parameter(offset, type), parameter(size, type)], answer)
        #expect(draft.yaml.contains("style: offset, offset: \(offset), size: \(size)"), "\(draft.yaml)")
    }

    @Test("A text called offset may be a cursor where the list does not say how long it is")
    func openOffset() throws {
        let draft = try list([parameter("offset"), parameter("limit", "integer")], "ok: { type: boolean }")
        #expect(draft.yaml.contains("TODO pagination"), "\(draft.yaml)")
    }

    @Test("A cursor may be asked for as the start of a page")
    func startCursor() throws {
        let draft = try list([parameter("start_cursor")], "next_cursor: { type: string }")
        #expect(
            draft.schema["things"]?.pull?.list.style
                == .cursor(parameter: "start_cursor", next: Place(paths: ["next_cursor"])))
    }

    @Test("A cursor that comes from the Link header is followed there")
    func link() throws {
        let draft = try list(
            [parameter("after", "string", "Obtained from the `Link` response header")], "ok: { type: boolean }")
        #expect(draft.schema["things"]?.pull?.list.style == .link)
    }

    @Test("An answer with a number of pages that nothing asks for is marked")
    func pages() throws {
        let draft = try list([], "total_pages: { type: integer }")
        #expect(draft.yaml.contains("TODO pagination: its answer has total_pages"))
    }

    @Test("An answer that says which page it is, and of how many, is asked for the next by its number")
    func guessed() throws {
        let draft = try list(
            [],
            "meta: { type: object, properties: { current_page: { type: integer }, total_pages: { type: integer } } }")
        #expect(
            draft.schema["things"]?.pull?.list.style
                == .page(parameter: "page", pages: Place(paths: ["meta.total_pages"])))
        #expect(draft.yaml.contains("TODO pagination.page: the document names no parameter"))
    }

    @Test("What changed is asked for by a bound that is a member of a parameter")
    func deepObject() throws {
        let bounds = "{ type: object, properties: { \"$gte\": { type: string, format: date-time } } }"
        let item =
            "{ type: object, properties: { id: { type: integer }, updated_at: { type: string, format: date-time } } }"
        let draft = try SchemaDraft.of(
            SmallDocument(
                schemas: ["Thing: \(item)"],
                paths: [
                    "/things: { \(SmallDocument.list("Thing", "parameters: [{ name: updated_at, in: query, schema: \(bounds) }],")) }"
                ]
            ).text)
        #expect(draft.yaml.contains("param: updated_at[$gte]") || draft.yaml.contains("param: \"updated_at[$gte]\""))
    }

    @Test("A size of a page that the list needs is the paging's, and no parameter besides")
    func neededSize() throws {
        let size = "{ name: limit, in: query, required: true, schema: { type: integer } }"
        let draft = try list([size, parameter("offset", "integer")], "total: { type: integer }")
        #expect(draft.schema["things"]?.pull?.list.size == "limit")
        #expect(draft.schema["things"]?.pull?.query.isEmpty == true, "\(draft.yaml)")
    }

    @Test(
        "The number of records in a page is not that of all records",
        arguments: [("Number of items in this result set", true), ("Number of things", false)])
    func count(_ description: String, _ isOfPage: Bool) throws {
        let draft = try list(
            [], "count: { type: integer, description: \"\(description)\" }, next: { type: string, format: uri }")
        #expect((draft.schema["things"]?.pull?.list.total == nil) == isOfPage, "\(draft.yaml)")
    }

    @Test("A text that is described as the path to the next page is its address")
    func path() throws {
        let draft = try list(
            [parameter("limit", "integer")],
            "has_more: { type: boolean }, next: { type: string, description: Path to subsequent page of results. }")
        #expect(draft.schema["things"]?.pull?.list.style == .nextURL(Place(paths: ["next"])), "\(draft.yaml)")
    }

    @Test("A position to start at is an offset, unless the answer names the next page")
    func position() throws {
        let parameters = [parameter("count", "integer"), parameter("start_position", "integer")]
        let alone = try list(parameters, "end_position: { type: integer }")
        #expect(alone.schema["things"]?.pull?.list.style == .offset(parameter: "start_position"), "\(alone.yaml)")
        let named = try list(parameters, "nextUri: { type: string }")
        #expect(named.schema["things"]?.pull?.list.style == .nextURL(Place(paths: ["nextUri"])), "\(named.yaml)")
    }

    @Test("A parameter for records after a date is no cursor; one for those after a record is")
    func dates() throws {
        let size = parameter("limit", "integer")
        let dated = "Only things that start after (not including) the given date (example: 2021-12-31)"
        let date = try list([size, parameter("after", "string", dated)], "ok: { type: boolean }")
        #expect(date.yaml.contains("TODO pagination: it has limit, and nothing says"), "\(date.yaml)")
        let time = "{ name: after, in: query, schema: { type: string, format: date-time } }"
        #expect(try !list([size, time], "ok: { type: boolean }").yaml.contains("cursor: after"))
        let record = parameter("after", "string", "The id of a thing: those after its date are shown")
        #expect(try list([size, record], "ok: { type: boolean }").yaml.contains("cursor: after"))
        let guessed = "check that the list without it has the first records"
        #expect(try list([size, record], "ok: { type: boolean }").yaml.contains(guessed))
        #expect(try !list([size, record], "has_more: { type: boolean }").yaml.contains(guessed))
    }

    @Test(
        "The pageable of Spring is the number and size of a page, from 0",
        arguments: [
            "page: { type: integer, minimum: 0 }, size: { type: integer }, sort: { type: array, items: { type: string } }",
            "offset: { type: integer }, pageNumber: { type: integer }, pageSize: { type: integer }, paged: { type: boolean }",
        ])
    func pageable(_ members: String) throws {
        let object = "schema: { type: object, properties: { \(members) } }"
        let draft = try list(
            ["{ name: pageable, in: query, required: true, \(object) }"], "totalPages: { type: integer }")
        let list = try #require(draft.schema["things"]?.pull?.list)
        #expect(list.style == .page(parameter: "page", pages: Place(paths: ["totalPages"])), "\(draft.yaml)")
        #expect(list.first == 0)
        #expect(draft.yaml.contains("size: size"))
        #expect(draft.settings.isEmpty)
    }

    @Test("An answer that is a page of Spring is asked for by the number of a page, from 0")
    func spring() throws {
        let answer = "number: { type: integer }, numberOfElements: { type: integer }, totalPages: { type: integer }"
        let named = try #require(list([parameter("page", "integer")], answer).schema["things"]?.pull?.list)
        #expect(named.first == 0)
        let pageable = "pageable: { type: object, properties: { pageNumber: { type: integer } } }"
        let guessed = try list([], "\(answer), \(pageable)")
        #expect(
            guessed.schema["things"]?.pull?.list.style
                == .page(parameter: "page", pages: Place(paths: ["totalPages"])), "\(guessed.yaml)")
        #expect(guessed.schema["things"]?.pull?.list.first == 0)
    }

    @Test("A number of a page that the list needs is the paging's, and no setting besides")
    func neededPage() throws {
        let needed = ["page", "limit"].map { "{ name: \($0), in: query, required: true, schema: { type: integer } }" }
        let draft = try list(needed, "total: { type: integer }")
        #expect(draft.schema["things"]?.pull?.list.style == .page(parameter: "page", pages: nil), "\(draft.yaml)")
        #expect(draft.schema["things"]?.pull?.query.isEmpty == true, "\(draft.yaml)")
        #expect(draft.settings.isEmpty)
    }

    @Test("A cursor that the document names only for another list is sent where the answer has its next value too")
    func cursorOfAnother() throws {
        let counts = "page: { type: integer }, total_pages: { type: integer }"
        let after = "per_page: { type: integer }, starting_after: { type: string }"
        let next = "next: { type: object, properties: { \(after) } }"
        let pages = "pages: { type: object, properties: { \(counts), \(next) } }"
        let rows = "data: { type: array, items: { type: object, properties: { id: { type: integer } } } }"
        func path(_ name: String, _ parameters: [String], _ pages: String) -> String {
            let answer = SmallDocument.answers("type: object, properties: { \(rows), \(pages) }")
            return "/\(name): { get: { parameters: [\(parameters.joined(separator: ", "))], \(answer) } }"
        }
        let numbers = "pages: { type: object, properties: { \(counts) } }"
        let draft = try SchemaDraft.of(
            SmallDocument(
                schemas: ["Thing: { type: object }"],
                paths: [
                    path("chats", [parameter("per_page", "integer"), parameter("starting_after")], pages),
                    path("people", [], pages), path("notes", [parameter("page", "integer")], pages),
                    path("tags", [], numbers),
                ]
            ).text)
        func style(_ name: String) -> ListPlan.Style? { draft.schema[name]?.pull?.list.style }
        let cursor = ListPlan.Style.cursor(
            parameter: "starting_after", next: Place(paths: ["pages.next.starting_after"]))
        #expect(style("chats") == cursor && style("people") == cursor, "\(draft.yaml)")
        let numbered = ListPlan.Style.page(parameter: "page", pages: Place(paths: ["pages.total_pages"]))
        #expect(style("tags") == numbered, "\(draft.yaml)")
    }

    // MARK: The length of a page

    @Test(
        "The most records that a page may have are also read from words",
        arguments: [
            ("How many to show (max. 50)", 50), ("This value cannot exceed 200.", 100),
            ("If it is less than 1 or greater than 30, the answer is 400.", 30),
            ("The minimum value is 1 and the maximum value is 25. The default value is 10.", 25),
            ("Can range between 1 and 1,000.", 100), ("At most 20 of them", 20),
        ])
    func saidMaximum(_ description: String, _ most: Int) throws {
        let parameters = [parameter("page", "integer"), parameter("limit", "integer", description)]
        let draft = try list(parameters, "ok: { type: string }")
        let paging = try #require(draft.schema["things"]?.pull?.list)
        #expect(paging.size == "limit" && paging.pageSize == most, "\(draft.yaml)")
        #expect(draft.yaml.contains("page_size: \(most)"), "\(draft.yaml)")
    }

    @Test(
        "Words that name no such number leave it open",
        arguments: [
            "The maximum number of things to return. Defaults to 20.", "Maximum results, by default 20",
            "Must be greater than 1", "The default of 30 is also the maximum allowed value. If 50 are asked, 30 come.",
        ])
    func noMaximum(_ description: String) throws {
        let parameters = [parameter("page", "integer"), parameter("limit", "integer", description)]
        let draft = try list(parameters, "ok: { type: string }")
        #expect(draft.schema["things"]?.pull?.list.size == "limit")
        #expect(!draft.yaml.contains("page_size"), "\(draft.yaml)")
    }

    @Test("A list whose pages have an unknown length ends with an empty one", arguments: ["page", "offset"])
    func unknownLength(_ place: String) throws {
        let unsaid = try list([parameter(place, "integer")], "ok: { type: string }")
        let size = parameter("per_page", "integer", "limited by the configured maximum")
        let limited = try list([parameter(place, "integer"), size], "ok: { type: string }")
        for draft in [unsaid, limited] {
            let paging = try #require(draft.schema["things"]?.pull?.list)
            #expect(paging.size == nil && paging.pageSize == 1, "\(draft.yaml)")
            #expect(draft.yaml.contains("an empty page is the last"))
        }
        let counted = try list([parameter(place, "integer")], "total: { type: integer }")
        #expect(!counted.yaml.contains("page_size"), "\(counted.yaml)")
    }
}
