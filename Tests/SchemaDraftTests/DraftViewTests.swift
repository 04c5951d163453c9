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

    @Test("A scroll through the records of a list is left out beside that list")
    func scroll() throws {
        let scroll = "/parts/scroll: { \(Document.list("Part")) }"
        let beside = try draft(["/parts: { \(Document.list("Part")) }", scroll])
        #expect(beside.paths.map(\.path) == ["/things", "/parts"], "\(beside.yaml)")
        #expect(try draft([scroll]).schema["parts"]?.pull?.path == "/parts/scroll")
    }

    private static let zone = "Zone: { type: object, properties: { id: { type: integer }, title: { type: string } } }"

    @Test("A list of when records were somewhere has no key in the other records that it names")
    func occurrences() throws {
        func draft(_ more: String) throws -> SchemaDraft {
            let members = "zone_id: { type: integer }, since: { type: string }\(more)"
            let visit = "Visit: { type: object, properties: { \(members) } }"
            return try SchemaDraft.of(
                Document(
                    schemas: [Self.thing, Self.zone, visit],
                    paths: [
                        "/things: { \(Document.list("Thing")) }", "/zones: { \(Document.list("Zone")) }",
                        "/reports/zones: { \(Document.list("Visit")) }",
                    ]
                ).text)
        }
        let visits = try draft(", thing_id: { type: integer }")
        #expect(visits.paths.map(\.path) == ["/things", "/zones"], "\(visits.yaml)")
        #expect(visits.leftOut.first?.reason.contains("zone_id names a record of /zones") == true)
        #expect(try draft("").paths.map(\.path) == ["/things", "/zones", "/reports/zones"])
    }

    /// Zones, and the zones of a thing, each with a level. `sent`: what the call that adds a zone to a thing sends besides.
    private func zones(_ sent: String, _ zone: String = zone) throws -> SchemaDraft {
        let members = "id: { type: integer }, title: { type: string }, level: { type: integer }"
        let part = "ZonePart: { type: object, properties: { \(members) } }"
        let add = Document.call("put", "ZoneLink", "ZoneLink", "summary: Add a zone,")
        let linked = "id: { type: integer }, level: { type: integer }, \(sent)"
        let link = "ZoneLink: { type: object, properties: { \(linked) } }"
        return try SchemaDraft.of(
            Document(
                schemas: [Self.thing, zone, part, link],
                paths: [
                    "/things: { \(Document.list("Thing")) }", "/zones: { \(Document.list("Zone")) }",
                    "/zones/{id}: { \(Document.single("Zone")), \(Document.deletion) }",
                    "/things/{id}/zones: { \(Document.list("ZonePart")), \(add) }",
                    "/things/{id}/zones/{zone_id}: { \(Document.deletion) }",
                ]
            ).text)
    }

    @Test("What connects the records of two lists shows those of one, which may be below several of the other")
    func membership() throws {
        let connected = try zones("zone_id: { type: integer }")
        #expect(connected.paths.map(\.path) == ["/things", "/zones"], "\(connected.yaml)")
        #expect(connected.leftOut.map(\.why) == [.sameRecords])
        let own = try zones("title: { type: string }")
        #expect(own.paths.map(\.path) == ["/things", "/zones", "/things/{id}/zones"], "\(own.yaml)")
    }

    @Test(
        "So does a list below a record to which a call only adds others by their key",
        arguments: [("", false), (", title: { type: string }", true)])
    func added(_ sent: String, _ isKept: Bool) throws {
        let zone = "{ type: object, properties: { id: { type: integer }\(sent) } }"
        let add = "Add: { type: object, properties: { zone: \(zone) } }"
        let paths = [
            "/things: { \(Document.list("Thing")) }", "/zones: { \(Document.list("Zone")) }",
            "/zones/{id}: { \(Document.single("Zone")), \(Document.deletion) }",
            "/things/{id}/zones: { \(Document.list("Zone")), \(Document.call("post", "Add", "Zone")) }",
            "/things/{id}/zones/{zone_id}: { \(Document.single("Zone")), \(Document.deletion) }",
        ]
        let draft = try SchemaDraft.of(Document(schemas: [Self.thing, Self.zone, add], paths: paths).text)
        #expect(draft.paths.contains { $0.path == "/things/{id}/zones" } == isKept, "\(draft.yaml)")
    }

    @Test("A creation whose answer names the record by its key's full name creates something else")
    func connection() throws {
        let zone = Self.zone.replacing("title:", with: "area: { type: number }, title:")
        let draft = try zones("zone_id: { type: integer }", zone)
        let below = try #require(draft.schema["things_zones"], "\(draft.yaml)")
        #expect(below.push.create.isEmpty)
        #expect(draft.todos.contains { $0.contains("which names this one by zone_id") }, "\(draft.todos)")
    }
}
