import Testing

@testable import Upstream

@Suite("Response collector")
struct ResponseCollectorTests {
    private func collect(_ lines: [String]) -> ResponseCollector {
        var collector = ResponseCollector(maximumBody: 10)
        for line in lines {
            _ = Array((line + "\r\n").utf8).withUnsafeBytes { collector.takeHeaderLine($0) }
        }
        return collector
    }

    @Test("a folded field is one field, joined by a space")
    func folded() {
        let collector = collect(["HTTP/1.1 200 OK", "X: a", "\tb", "  c", "Y: d", ""])
        #expect(collector.headers == [HTTPHeader("X", "a b c"), HTTPHeader("Y", "d")])
    }

    @Test("a header line without a colon is rejected")
    func noColon() {
        #expect(collect(["HTTP/1.1 200 OK", "nonsense"]).refusal != nil)
    }

    @Test("invalid UTF-8 in a header does not fail a response")
    func latin1() {
        var collector = collect(["HTTP/1.1 200 OK"])
        let line: [UInt8] = [0x58, 0x3A, 0x20, 0xFC, 0x0D, 0x0A]
        let isTaken = line.withUnsafeBytes { collector.takeHeaderLine($0) }
        #expect(isTaken)
        #expect(collector.headers == [HTTPHeader("X", "\u{FFFD}")])
    }

    @Test("header limits include interim responses and trailers")
    func trickedLimit() {
        let line = "X: " + String(repeating: "x", count: 1000)
        let interim = Array(repeating: ["HTTP/1.1 103 Early Hints", line, ""], count: 70).flatMap(\.self)
        #expect(collect(interim).refusal != nil)
        #expect(collect(["HTTP/1.1 200 OK", ""] + Array(repeating: line, count: 70)).refusal != nil)
    }

    @Test(
        "a status line that libcurl reads otherwise is rejected",
        arguments: [
            "HTTP/1.1\t103 Early Hints", "HTTP/1.1  103 Early Hints", " HTTP/1.1 103 Early Hints", "HTTP/1.1 1030",
            "HTTP/1.1 20",
            "HTTP/1.1", "", "http/1.1 200 OK", "ICY 200 OK",
        ])
    func oddStatusLine(_ line: String) {
        #expect(collect([line]).refusal != nil)
    }

    @Test(
        "a status line may lack its words",
        arguments: ["HTTP/1.1 200", "HTTP/1.0 200 ", "HTTP/2 200 ", "HTTP/1.1 200\tOK"])
    func plainStatusLine(_ line: String) {
        let collector = collect([line, "X: a", ""])
        #expect(collector.refusal == nil)
        #expect(collector.headers == [HTTPHeader("X", "a")] && collector.hasHead)
    }

    @Test("header names are looked up without regard to ASCII case, and the first wins")
    func lookUp() {
        let response = HTTPResponse(
            status: 200, headers: [HTTPHeader("ETag", "1"), HTTPHeader("etag", "2"), HTTPHeader("É", "3")])
        #expect(response.header("eTAG") == "1")
        #expect(response.header("ETa") == nil)
        #expect(response.header("é") == nil)
        #expect(HTTPResponse(status: 200, headers: [HTTPHeader("a[", "1")]).header("A{") == nil)
    }
}
