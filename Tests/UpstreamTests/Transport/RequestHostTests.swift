import Testing

@testable import Upstream

@Suite("The host of a request, in messages")
struct RequestHostTests {
    @Test(
        "is what the URL names, without user and password",
        arguments: [
            ("https://shop.example/a?b#c", "shop.example"), ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("https://ada:secret@shop.example:1/", "shop.example:1"), ("http://[::1]:80/x", "[::1]:80"),
            ("https://shop.example\\@evil.example/", "shop.example"),
        ])
    func whole(_ url: String, _ host: String) {
        #expect(HTTPRequest(url: url).host == host)
    }

    @Test(
        "is named also if the URL lacks its scheme",
        arguments: [
            ("//127.0.0.1:21465/y", "127.0.0.1:21465"), ("//a:b@cdn.example/y", "cdn.example"),
            ("cdn.example:80/y", "cdn.example:80"), ("/y:1", ""), ("file:///etc/passwd", ""), ("", ""),
        ])
    func partial(_ url: String, _ host: String) {
        #expect(HTTPRequest(url: url).host == host)
    }

    @Test("is cut if it is endless")
    func endless() {
        let host = HTTPRequest(url: "https://\(String(repeating: "a", count: 10_000))/").host
        #expect(host.count == 300 && host.hasSuffix("a…"))
    }
}
