import Testing

@testable import Upstream

@Suite("References in responses")
struct BaseAddressTests {
    private let base = BaseAddress("https://api.example.org/v2")

    @Test(
        "a reference below the base is resolved, whatever its form",
        arguments: [
            ("https://api.example.org/v2/orders?page=2", "/orders?page=2"),
            ("HTTPS://API.Example.ORG:443/v2/orders?page=2", "/orders?page=2"),
            ("//api.example.org/v2/orders?page=2", "/orders?page=2"),
            ("/v2/orders?page=2", "/orders?page=2"),
            ("orders?page=2", "/shop/orders?page=2"),
            ("?page=2", "/shop/list?page=2"),
            ("../orders", "/orders"),
            ("./orders/../x/.", "/shop/x/"),
            ("", "/shop/list?page=1"),
            ("?next=http://elsewhere.org/a/../b", "/shop/list?next=http://elsewhere.org/a/../b"),
            ("/v2/orders?page=2#top", "/orders?page=2"),
            ("/v2/a%2Fb/c", "/a%2Fb/c"), ("/v2/tür?name=é", "/t%C3%BCr?name=%C3%A9"),
        ])
    func below(_ reference: String, _ path: String) {
        #expect(base.path(of: reference, from: "/shop/list?page=1") == path)
    }

    @Test("a query of the base itself is a page, as in HAPI FHIR")
    func baseItself() {
        #expect(
            base.path(of: "https://api.example.org/v2?_getpages=7&_offset=10", from: "/Task")
                == "?_getpages=7&_offset=10")
        #expect(base.path(of: "/v2?page=3", from: "?page=2") == "?page=3")
        #expect(base.path(of: "?page=3", from: "?page=2") == "?page=3")
        #expect(base.path(of: "https://api.example.org/v2", from: "/Task") == nil)
        #expect(base.path(of: "https://api.example.org/v22?page=2", from: "/Task") == nil)
    }

    @Test(
        "the address at http:// means this one at https:// where that is forgiven, and never the other way round",
        arguments: [
            ("http://api.example.org/v2/a?b", "/a?b"), ("HTTP://API.example.org/v2/a", "/a"),
            ("http://api.example.org:443/v2/a", "/a"), ("http://api.example.org:80/v2/a", nil),
            ("http://api.example.org/v1/a", nil), ("http://evil.example.org/v2/a", nil),
            ("http://api.example.org@evil.org/v2/a", nil), ("ftp://api.example.org/v2/a", nil),
        ])
    func withoutTLS(_ reference: String, _ path: String?) {
        #expect(base.path(of: reference, from: "/shop/list", forgivesHTTP: true) == path)
        #expect(base.path(of: reference, from: "/shop/list") == nil)
        let plain = BaseAddress("http://api.example.org/v2")
        #expect(plain.path(of: "https://api.example.org/v2/a", from: "/shop/list", forgivesHTTP: true) == nil)
    }

    @Test(
        "a reference to another place is rejected",
        arguments: [
            "http://api.example.org/v2/orders", "https://api.example.org:8443/v2/orders",
            "https://evil.example.org/v2/orders", "https://api.example.org.evil.org/v2/orders",
            "https://api.example.org@evil.org/v2/orders", "https://evil.org@api.example.org/v2/orders",
            "//evil.org/v2/orders", "https://api.example.org/v1/orders", "https://api.example.org/v22/orders",
            "https://api.example.org/v2/../admin", "/v2/%2e%2E/admin", "../../admin", "https://api.example.org",
            "https:orders", "https:///v2/orders", "javascript:alert(1)", "/v2/or ders", "/v2\\orders", "/v2/a\r\nX: y",
            "https://api.example.org:x/v2/orders", "https://[::1]/v2/orders", "/v2/../\u{301}admin",
            "https://api.example.org/v2/x/../../\u{20DD}admin", "/v2/..%2fadmin", "/v2/a%2F%2e%2E%2f../admin",
            "/v2/..%5Cadmin", "/v2/..;/admin", "/v2/..;a=b/admin", "/v2/%2E.%3bx/admin",
        ])
    func elsewhere(_ reference: String) {
        #expect(base.path(of: reference, from: "/shop/list") == nil)
    }

    @Test(
        "an escaped slash and a semicolon are kept where they lead nowhere",
        arguments: ["/a%2Fb/..c", "/a;v=1/b", "/a..%2Fb..;c", "/x?y=..%2f..%2f;"])
    func harmless(_ path: String) {
        #expect(base.path(of: "/v2\(path)", from: "/shop/list") == path)
    }

    @Test("a base needs no path, and may have a port or an IPv6 address")
    func others() {
        let base = BaseAddress("http://[::1]:8080")
        #expect(base.path(of: "http://[::1]:8080/a?b", from: "/") == "/a?b")
        #expect(base.path(of: "http://[::1]/a?b", from: "/") == nil)
        #expect(base.path(of: "../../a", from: "/x/y") == "/a")
        #expect(BaseAddress("http://a.org:80").path(of: "http://a.org/x", from: "/") == "/x")
    }

    @Test("a reference is read up to 64 KiB")
    func long() {
        let path = String(repeating: "/a", count: 30 << 10)
        #expect(base.path(of: "/v2\(path)", from: "/shop/list") == path)
        #expect(base.path(of: "/v2\(path)\(path)", from: "/shop/list") == nil)
    }
}
