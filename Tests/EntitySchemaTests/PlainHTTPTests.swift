import Testing

@testable import EntitySchema

@Suite struct PlainHTTPTests {
    @Test(
        "plain HTTP to a host that may be another machine leaves this one",
        arguments: [
            "http://shop.example", "http://127.0.0.1@shop.example/", "http://localhost.evil.example", "http://127.1",
            "http://0x7f.0.0.1", "http://127.0.0.1.example:80", "http://0127.0.0.1", "http://+127.0.0.1", "http://[::1",
            "http://[::2]", "hTTp://a", "http://",
            "http://10.0.0.1/http://127.0.0.1", "http://localhost\\@shop.example/",
            "http://shop.example?\u{301}@localhost/", "http://\u{301}shop.example@shop.example/",
        ])
    func leaves(_ address: String) {
        #expect(PlainHTTP.leavesMachine(address))
    }

    @Test(
        "an encrypted or local address does not",
        arguments: [
            "https://shop.example", "http://127.0.0.1", "http://127.8.8.8:80/a", "http://LOCALHOST:1", "http://[::1]/",
            "http://[::1]:80", "http://ada@localhost/",
        ])
    func stays(_ address: String) {
        #expect(!PlainHTTP.leavesMachine(address))
    }
}
