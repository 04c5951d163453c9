import EntitySchema
import JSONText
import Testing

@testable import Upstream

@Suite("Next pages that the schema does not follow")
struct UnfollowedPageTests {
    private func found(
        _ envelope: String, link: String? = nil, style: ListPlan.Style = .single, known: Place? = nil
    ) throws -> String? {
        let yaml = """
            schema: s
            upstream: { base_url: "https://shop.example" }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """
        var list = try #require(EntitySchema(yaml: yaml, file: "s.yaml")["orders"]?.pull?.list)
        list.style = style
        let response = HTTPResponse(status: 200, headers: link.map { [HTTPHeader("Link", $0)] } ?? [])
        return UnfollowedPage.found(in: response, try JSONText(parsing: envelope), of: list, known: known)
    }

    @Test(
        "#16 a member that names another page is noticed",
        arguments: [
            (#"{"next":"https://shop.example/orders?page=2"}"#, "next"), (#"{"next_cursor":"x"}"#, "next_cursor"),
            (#"{"has_more":true}"#, "has_more"), (#"{"next_page":2}"#, "next_page"),
            (#"{"links":{"next":{"href":"/orders?page=2"}}}"#, "links.next.href"),
            (#"{"nextPageToken":"x"}"#, "nextPageToken"),
            (#"{"paging":{"next":{"after":"40"}}}"#, "paging.next.after"),
            (#"{"meta":{"cursor":"abc"}}"#, "meta.cursor"),
            (#"{"offset":"itr1/rec2"}"#, "offset"),
            (#"{"@odata.nextLink":"https://shop.example/orders?$skip=5000"}"#, #""@odata.nextLink""#),
            (#"{"d":{"__next":"/orders?$skiptoken=37"}}"#, "d.__next"),
            (#"{"metadata":{"continue":"x"}}"#, "metadata.continue"), (#"{"has_next_page":true}"#, "has_next_page"),
            (#"{"link":[{"relation":"self","url":"/a"},{"relation":"next","url":"/b"}]}"#, "link.relation=next.url"),
        ])
    func members(_ envelope: String, _ place: String) throws {
        #expect(try found(envelope) == place)
    }

    @Test(
        "the last page names none",
        arguments: [
            "{}", "[]", #"{"next":null,"has_more":false}"#, #"{"next":""}"#, #"{"links":{"next":{"href":null}}}"#,
            #"{"next_page":0,"next":[]}"#, #"{"offset":100}"#, #"{"offset":"100"}"#, #"{"paging":{"next":{}}}"#,
            #"{"metadata":{"continue":""},"hasNextPage":false,"nextRecordsUrl":null}"#,
            #"{"links":[{"rel":"self","href":"/a"}],"link":[]}"#,
        ])
    func none(_ envelope: String) throws {
        #expect(try found(envelope) == nil)
    }

    @Test("a member that the schema reads as the next page, or as the token for the next pull, names no other one")
    func followed() throws {
        let cursor = ListPlan.Style.cursor(parameter: "cursor", next: Place(paths: ["meta.cursor"]))
        #expect(try found(#"{"meta":{"cursor":"abc"}}"#, style: cursor) == nil)
        #expect(try found(#"{"meta":{"cursor":"abc"}}"#, known: Place(paths: ["meta.cursor"])) == nil)
    }

    @Test(
        "a header that names the next page is noticed",
        arguments: [("X-Next-Cursor", "0x28"), ("x-next-page", "2"), ("X-Next-Page", "")])
    func header(_ name: String, _ value: String) {
        let response = HTTPResponse(status: 200, headers: [HTTPHeader(name, value)])
        #expect((UnfollowedPage.header(in: response) == nil) == value.isEmpty)
    }

    @Test("#16 a Link header counts unless the list is paged by it")
    func link() throws {
        let next = #"</orders?page=2>; rel="next""#
        #expect(try found("[]", link: next) == "Link: rel=next")
        #expect(try found("[]", link: #"</orders?page=1>; rel="prev""#) == nil)
        #expect(try found("[]", link: next, style: .link) == nil)
    }
}
