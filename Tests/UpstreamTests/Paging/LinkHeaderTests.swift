import Testing

@testable import Upstream

@Suite("Link")
struct LinkHeaderTests {
    @Test(
        "finds the next page in every notation",
        arguments: [
            [#"</a?page=2>; rel="next""#],
            [#"</a?page=2>; rel=next"#],
            ["</a?page=2>; rel='next'"],
            [#"</a?page=2>;rel = "next""#],
            [#"</a?page=2> ; REL="NEXT last""#],
            [#"</z>; rel="prev", </a?page=2>; rel="next", </y>; rel="last""#],
            [#"</z>; rel="prev""#, #"</a?page=2>; rel="next""#],
            [#"</z>; title="a, b; rel=\"next\""; rel=prev, </a?page=2>; title*=UTF-8''x; crossorigin; rel="x next""#],
            [#", ,</a?page=2>;; rel="next";"#],
            [#"</z>; rel="next"; anchor="/other", </a?page=2>; rel="next""#],
            [#"</z>; rel="previous"; results="false", </a?page=2>; rel="next"; results="true"; cursor="0:100:0""#],
        ])
    func next(_ fields: [String]) throws {
        #expect(try LinkHeader(fields).next == "/a?page=2")
    }

    @Test("a target may contain commas and semicolons")
    func punctuation() throws {
        let field = #"</a?ids=1,2;3>; rel="next", </b>; rel="last""#
        #expect(try LinkHeader([field]).links.map(\.target) == ["/a?ids=1,2;3", "/b"])
    }

    @Test(
        "finds no next page",
        arguments: [
            [], [""], [#"</a>; rel="prev""#], [#"</a>; rel="nextish""#], [#"</a>; title="next""#], ["</a>"],
            [#"</a>; rel="prev"; rel="next""#], [#"</a>; rel="next"; anchor="/b""#],
            [#"</a?cursor=0:0:1>; rel="previous"; results="false", </a?cursor=0:100:0>; rel="next"; results="false""#],
        ])
    func none(_ fields: [String]) throws {
        #expect(try LinkHeader(fields).next == nil)
    }

    @Test(
        "is rejected when it cannot be parsed, because it may hide the next page",
        arguments: ["/a; rel=next", "</a; rel=next", #"</a>; rel="next"#, "</a> rel=next", "</a>; =next"])
    func malformed(_ field: String) {
        #expect(throws: LinkHeader.Malformed.self) { try LinkHeader([field]) }
    }
}
