import EntitySchema
import Testing

@testable import SchemaDraft

@Suite("Drafting lists that show the records of others")
struct DraftViewTests {
    private typealias Document = SmallDocument

    private static let part =
        "Part: { type: object, properties: { id: { type: integer }, title: { type: string }, thing_id: { type: integer } } }"
    private static let thing = "Thing: { type: object, properties: { id: { type: integer }, title: { type: string } } }"
    private static let link = "Link: { type: object, properties: { id: { type: string }, type: { type: string } } }"

    private static let less =
        "Less: { type: object, properties: { id: { type: integer }, thing_id: { type: integer } } }"

    private func draft(_ paths: [String]) throws -> SchemaDraft {
        let things = "/things: { \(Document.list("Thing")) }"
        return try SchemaDraft.of(
            Document(schemas: [Self.thing, Self.part, Self.link, Self.less], paths: [things] + paths).text)
    }

    private static let change = Document.call("put", "Part", "Part")
    private static let post = Document.call("post", "Part", "Part")

    @Test("The list of all records has the calls of the one below, if a record names the other one")
    func joined() throws {
        let draft = try draft([
            "/parts: { \(Document.list("Part")) }",
            "/things/{thing_id}/parts: { \(Document.list("Part")), \(Self.post) }",
            "/things/{thing_id}/parts/{part_id}: { \(Document.single("Part")), \(Self.change), \(Document.deletion) }",
        ])
        #expect(draft.paths.map(\.path) == ["/things", "/parts"], "\(draft.yaml)")
        let parts = try #require(draft.schema["parts"])
        #expect(parts.pull?.single.path.source == "/things/{thing_id}/parts/{id}")
        #expect(parts.push.create.first?.call == "POST /things/{thing_id}/parts")
        #expect(parts.push.update.first?.call == "PUT /things/{thing_id}/parts/{id}")
        #expect(parts.push.delete.first?.call == "DELETE /things/{thing_id}/parts/{id}")
        #expect(draft.leftOut.map(\.why) == [.sameRecords])
    }

    @Test("The list of all records is kept alone if it has all calls of the one below")
    func whole() throws {
        let draft = try draft([
            "/parts: { \(Document.list("Part")), \(Self.post) }",
            "/parts/{id}: { \(Document.single("Part")), \(Self.change) }",
            "/things/{thing_id}/parts: { \(Document.list("Part")), \(Self.post) }",
            "/things/{thing_id}/parts/{id}: { \(Document.single("Part")), \(Self.change) }",
        ])
        #expect(draft.paths.map(\.path) == ["/things", "/parts"], "\(draft.yaml)")
        #expect(draft.schema["parts"]?.push.update.first?.call == "PUT /parts/{id}")
    }

    @Test("A list of all records that cannot be changed is left out if these do not say what they are below")
    func unnamed() throws {
        let draft = try draft([
            "/things/links: { \(Document.list("Link")) }",
            "/things/{id}/links: { \(Document.list("Link")), \(Document.call("post", "Link", "Link")) }",
            "/things/{id}/links/{link_id}: { \(Document.single("Link")), \(Document.deletion) }",
        ])
        #expect(draft.paths.map(\.path) == ["/things", "/things/{id}/links"], "\(draft.yaml)")
        #expect(draft.leftOut.first?.reason.contains("where they can be changed") == true)
    }

    @Test("What shows less of the records of a whole list is left out, unless it has calls of its own")
    func less() throws {
        let paths = ["/parts: { \(Document.list("Part")) }", "/things/{id}/parts: { \(Document.list("Less")) }"]
        #expect(try draft(paths).paths.map(\.path) == ["/things", "/parts"])
        let own = "/things/{id}/parts/{part_id}: { \(Document.single("Less")), \(Self.change) }"
        #expect(try draft(paths + [own]).paths.map(\.path).contains("/things/{id}/parts"))
    }

    @Test("Lists that only name records of others, and searches in another list, are left out")
    func named() throws {
        let draft = try draft([
            "/parts: { \(Document.list("Part")) }", "/things/{id}/relationships/parts: { \(Document.list("Link")) }",
            "/search/parts: { \(Document.list("Part")) }", "/search/links: { \(Document.list("Link")) }",
        ])
        #expect(draft.paths.map(\.path) == ["/things", "/parts", "/search/links"], "\(draft.yaml)")
        #expect(draft.leftOut.allSatisfy { $0.why == .sameRecords })
    }

    @Test("A list in pages has the calls for the records of the list above it, and is left out beside that list")
    func pages() throws {
        let single = "/parts/{id}: { \(Document.single("Part")), \(Self.change) }"
        let pages = "/parts/pagination: { \(Document.list("Part")) }"
        let alone = try draft([pages, single, "/parts: { \(Self.post) }"])
        let parts = try #require(alone.schema["parts"])
        #expect(parts.pull?.path == "/parts/pagination", "\(alone.yaml)")
        #expect(parts.push.create.first?.call == "POST /parts")
        #expect(parts.push.update.first?.call == "PUT /parts/{id}")
        let beside = try draft([pages, single, "/parts: { \(Document.list("Part")) }"])
        #expect(beside.paths.map(\.path) == ["/things", "/parts"], "\(beside.yaml)")
        let asked = "parameters: [{ name: title, in: query, required: true, schema: { type: string } }],"
        let other = try draft([pages, single, "/parts: { \(Document.list("Part", asked)) }"])
        #expect(other.paths.map(\.path) == ["/things", "/parts/pagination"], "\(other.yaml)")
    }

    @Test("A list is below the records of another one also where the path names one of them in the singular")
    func singular() throws {
        let draft = try draft(["/thing/{thingId}/less: { \(Document.list("Less")) }"])
        #expect(draft.schema["things"]?.pull?.details.first?.path?.source == "/thing/{id}/less", "\(draft.yaml)")
        let joined = try self.draft([
            "/parts/all: { \(Document.list("Part")) }", "/thing/{id}/parts: { \(Document.list("Part")) }",
        ])
        #expect(joined.paths.map(\.path) == ["/things", "/parts/all"], "\(joined.yaml)")
    }

    @Test("The recent ones of a list may show what each of them refers to")
    func recent() throws {
        func draft(_ recent: String) throws -> SchemaDraft {
            let names = "id: { type: integer }, title: { type: string }, day: { type: string }"
            let order = "Order: { type: object, properties: { \(names), shop: { type: integer } } }"
            let other = "Other: { type: object, properties: { \(recent) } }"
            return try SchemaDraft.of(
                Document(
                    schemas: [order, other.replacing("NAMES", with: names)],
                    paths: [
                        "/orders: { \(Document.list("Order")) }", "/orders/recent: { \(Document.list("Other")) }",
                    ]
                ).text)
        }
        let whole = try draft("NAMES, shop: { type: object, properties: { id: { type: integer } } }")
        #expect(whole.paths.map(\.path) == ["/orders"], "\(whole.yaml)")
        let another = try draft(
            "id: { type: integer }, title: { type: string }, reason: { type: string }, by: { type: string }")
        #expect(another.paths.map(\.path) == ["/orders", "/orders/recent"], "\(another.yaml)")
    }

    @Test("A list that pairs the records of two lists has no key in one of them")
    func pair() throws {
        let pair = "Pair: { type: object, properties: { shop_id: { type: string }, team_id: { type: string } } }"
        let team = "Team: { type: object, properties: { id: { type: string }, name: { type: string } } }"
        func draft(_ paths: [String]) throws -> SchemaDraft {
            try SchemaDraft.of(
                SmallDocument(
                    schemas: [pair, team],
                    paths: [
                        "/teams: { \(SmallDocument.list("Team")) }", "/shop-teams: { \(SmallDocument.list("Pair")) }",
                    ]
                        + paths
                ).text)
        }
        let only = try draft([])
        #expect(only.paths.map(\.path) == ["/teams"])
        #expect(only.leftOut.first?.reason.contains("[shop_id, team_id]") == true)
        let keyed = try draft(["\"/shop-teams/{team_id}\": { \(SmallDocument.single("Pair")) }"])
        #expect(keyed.paths.map(\.path) == ["/teams", "/shop-teams"])
    }
}
