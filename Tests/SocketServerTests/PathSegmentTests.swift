import SocketServer
import Testing

@Suite("Segments of a path")
struct PathSegmentTests {
    @Test(
        "they are what stands between slashes, empty ones included",
        arguments: [
            ("", [""]), ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("/a//b", ["a", "", "b"]), ("//", ["", ""]),
            ("/v1/orders/ab-1", ["v1", "orders", "ab-1"]),
        ])
    func split(_ path: String, _ segments: [String]) {
        #expect(PercentCoding.segments(path) == segments)
    }

    @Test("escapes are decoded in each, so that an escaped slash separates none")
    func decoded() {
        #expect(PercentCoding.segments("/a%2Fb/c%20d+e") == ["a/b", "c d+e"])
        #expect(PercentCoding.segments("/a/%zz") == nil)
        #expect(PercentCoding.segments("/%ff/a") == nil)
    }

    @Test("one with more than 30 combining marks in a row cannot be decoded, in a path and in a query")
    func marks() {
        let some = "e" + String(repeating: "%CC%95%CC%96", count: 15)
        #expect(PercentCoding.segments("/\(some)\(some)")?.count == 1)
        #expect(PercentCoding.segments("/a/\(some)%CC%95") == nil)
        #expect(PercentCoding.parameters("q=\(some)")?.count == 1)
        #expect(PercentCoding.parameters("q=\(some)%CC%95") == nil)
    }
}
