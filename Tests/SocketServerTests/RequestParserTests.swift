import SocketServer
import Testing

@Suite struct RequestParserTests {
    /// The output of a parser: the requests, and the refusal that ended parsing.
    struct Outcome: Equatable {
        var messages: [RequestParser.Message] = []
        var refusal: Refusal?
    }

    static func parse(_ pieces: [ArraySlice<UInt8>], limits: ServerLimits = ServerLimits()) -> Outcome {
        var parser = RequestParser(limits: limits)
        var outcome = Outcome()
        for piece in pieces {
            piece.withUnsafeBytes { parser.append($0) }
            do throws(Refusal) {
                while let message = try parser.next() { outcome.messages.append(message) }
            } catch {
                outcome.refusal = error
                return outcome
            }
        }
        return outcome
    }

    @Test(
        "input split in two anywhere, or into single bytes, gives the same requests and refusals",
        arguments: Probe.all)
    func cuts(probe: Probe) {
        let bytes = probe.input
        let whole = Self.parse([bytes[...]])
        #expect(Self.parse(bytes.indices.map { bytes[$0...$0] }) == whole)
        let step = bytes.count > 1000 ? bytes.count / 25 : 1
        for cut in stride(from: 0, through: bytes.count, by: step) {
            #expect(Self.parse([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)")
        }
    }

    @Test("a field has at most 30 combining marks in a row, because comparing more of them takes long")
    func marks() throws {
        let some = "e" + String(repeating: "\u{315}\u{316}", count: 15)
        let input = "GET / HTTP/1.1\r\nHost: a\r\nX: \(some)\u{315}\u{316}\r\nY: \(some)\(some)\r\n\r\n"
        let message = try #require(Self.parse([Array(input.utf8)[...]]).messages.first)
        let (cut, kept) = (message.headers[single: "X"] ?? "", message.headers[single: "Y"] ?? "")
        #expect(cut.unicodeScalars.elementsEqual((some + "\u{FFFD}\u{316}").unicodeScalars))
        #expect(kept.unicodeScalars.elementsEqual((some + some).unicodeScalars))
    }

    @Test(
        "what stands unescaped in a target is named by its escape",
        arguments: [("[", "%5B"), ("ë", "%C3"), ("\"", "%22")])
    func unescaped(_ character: String, _ escape: String) throws {
        let refusal = Self.parse([Array("GET /a?b=\(character) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)[...]]).refusal
        #expect(refusal?.status == 400 && refusal?.detail.contains(" \(escape) ") == true)
    }

    @Test("target, fields and body are parsed as they were sent")
    func content() throws {
        let input = [UInt8](
            "PUT /a%20b?c=d&e HTTP/1.1\r\nHost: h\r\nx-Two: 1\r\nX-two: 2 3 \r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: v\r\n\r\n"
                .utf8)
        let message = try #require(Self.parse([input[...]]).messages.first)
        #expect(message.method == "PUT")
        #expect(message.path == "/a%20b")
        #expect(message.query == "c=d&e")
        #expect(message.headers[all: "X-TWO"] == ["1", "2 3"])
        #expect(message.headers[single: "T"] == nil)
        #expect(message.body == [UInt8]("abc".utf8))
        #expect(message.keepsAlive)
    }

    @Test("the host of an absolute target takes the place of Host")
    func absoluteTarget() throws {
        let input = [UInt8]("GET http://b.example:80/x HTTP/1.1\r\nhost: a\r\n\r\n".utf8)
        let message = try #require(Self.parse([input[...]]).messages.first)
        #expect(message.headers[all: "Host"] == ["b.example:80"])
        #expect(message.path == "/x")
    }

    @Test("names that differ in more than case are not the same")
    func names() {
        var headers = Headers()
        headers.append(name: "a^", value: "1")
        #expect(headers[single: "A^"] == "1")
        #expect(headers[single: "a~"] == nil)
    }

    @Test("a head of exactly the limit is accepted, one byte more is rejected")
    func headLimit() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nX: abc\r\n\r\n"
        var limits = ServerLimits()
        limits.headBytes = head.utf8.count - 2
        #expect(Self.parse([[UInt8](head.utf8)[...]], limits: limits).messages.count == 1)
        limits.headBytes = head.utf8.count - 5
        #expect(Self.parse([[UInt8](head.utf8)[...]], limits: limits).refusal?.status == 431)
    }

    @Test("a body of exactly the limit is accepted, one byte more is rejected", arguments: [(8, nil), (9, 413)])
    func bodyLimit(count: Int, status: Int?) {
        var limits = ServerLimits()
        limits.bodyBytes = 8
        let body = String(repeating: "b", count: count)
        let plain = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n\(body)"
        let half = "4\r\nbbbb\r\n\(count - 4)\r\n\(body.dropFirst(4))\r\n0\r\n\r\n"
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(half)"
        #expect(Self.parse([[UInt8](plain.utf8)[...]], limits: limits).refusal?.status == status)
        #expect(Self.parse([[UInt8](chunked.utf8)[...]], limits: limits).refusal?.status == status)
    }

    @Test("a body that is given up takes no memory any more")
    func discarded() throws {
        var parser = RequestParser(limits: ServerLimits())
        let body = String(repeating: "b", count: 50_000)
        Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n\(body)".utf8).withUnsafeBytes {
            parser.append($0)
        }
        let message = try parser.next()
        #expect(message == nil)
        #expect(parser.heldBytes >= 50_000)
        parser.discard()
        #expect(parser.heldBytes == 0)
    }
}
