import Foundation
import Testing

@testable import Upstream

@Suite("libcurl transport: failures", .timeLimit(.minutes(10)))
struct CurlTransportFailureTests {
    private let transport: CurlTransport

    init() throws {
        transport = try CurlTransport(userAgent: "test")
    }

    private func failure(
        of script: ScriptedServer.Step..., maximumBody: Int = 1000, deadline: Duration = .seconds(30)
    ) async throws -> TransportError {
        let server = try ScriptedServer([.receive] + script)
        return try await transport.failure(
            of: HTTPRequest(url: server.url, deadline: deadline, maximumBody: maximumBody))
    }

    @Test("a stalled response ends at the deadline")
    func stall() async throws {
        let deadline = Duration.milliseconds(300)
        let start = ContinuousClock.now
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .awaitClientLeaving, deadline: deadline)
        #expect(error.kind == .ambiguous)
        #expect(ContinuousClock.now - start >= deadline - .milliseconds(2))
    }

    @Test("a trickling response ends at the deadline too")
    func trickle() async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"), .trickle(0x20),
            maximumBody: 1 << 30, deadline: .milliseconds(300))
        #expect(error.kind == .ambiguous)
    }

    @Test("trickling headers end at the deadline")
    func headerTrickle() async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nX: "), .trickle(0x61), deadline: .milliseconds(300))
        #expect(error.kind == .ambiguous)
    }

    @Test("a body shorter than its Content-Length is ambiguous")
    func truncatedLength() async throws {
        let error = try await failure(of: .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"))
        #expect(error.kind == .ambiguous)
    }

    @Test("a chunked body without its last chunk is ambiguous")
    func truncatedChunks() async throws {
        let error = try await failure(of: .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"))
        #expect(error.kind == .ambiguous)
    }

    @Test("a connection closed before any response is ambiguous")
    func emptyReply() async throws {
        #expect(try await failure().kind == .ambiguous)
    }

    @Test("only the failure of a request that changes something warns of a change", arguments: ["GET", "POST"])
    func warning(_ method: String) async throws {
        let server = try ScriptedServer([.receive, .reset])
        let error = try await transport.failure(of: HTTPRequest(method: method, url: server.url))
        #expect(error.kind == .ambiguous)
        #expect(error.message.contains("may have been applied") == (method == "POST"))
    }

    @Test("a connection reset after the request is ambiguous")
    func reset() async throws {
        #expect(try await failure(of: .reset).kind == .ambiguous)
    }

    @Test("a body that is not the gzip it claims to be is unacceptable")
    func badGzip() async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain"))
        #expect(error.kind == .unacceptable)
    }

    @Test(
        "a coding that was not asked for is unacceptable, as are two of them",
        arguments: ["rot13", "br", "zstd", "gzip, gzip", "deflate,br"])
    func unaskedCoding(_ coding: String) async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 5\r\n\r\nuryyb"))
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains(coding.replacing(",", with: ", ").replacing("  ", with: " ")))
    }

    @Test(
        "a coding of the transfer that was not asked for is unacceptable, as are two of them, whatever the status",
        arguments: ["br, chunked", "gzip, gzip, chunked", "zstd", "gzip, deflate"], [200, 404])
    func unaskedTransferCoding(_ coding: String, _ status: Int) async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 \(status) X\r\nTransfer-Encoding: \(coding)\r\n\r\n5\r\nuryyb\r\n0\r\n\r\n"), .finish)
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains("not asked for"))
    }

    @Test(
        "two lengths that differ are unacceptable; the same one twice is not",
        arguments: ["Content-Length: 5\r\nContent-Length: 4", "Content-Length: 4\r\nContent-Length: 5"], [200, 404])
    func twoLengths(_ fields: String, _ status: Int) async throws {
        let error = try await failure(of: .send("HTTP/1.1 \(status) X\r\n\(fields)\r\n\r\nhello"), .finish)
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains("more than one length"))
        let same = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"
        let server = try ScriptedServer([.receive, .send(same)])
        let answer = try await transport.send(
            HTTPRequest(url: server.url, deadline: .seconds(30), maximumBody: 1000))
        #expect(answer.body == Array("hello".utf8))
    }

    @Test("one coding of the transfer within one of the content is unacceptable")
    func codingWithinCoding() async throws {
        let heads = "Content-Encoding: gzip\r\nTransfer-Encoding: gzip, chunked\r\n"
        let error = try await failure(of: .send("HTTP/1.1 200 OK\r\n\(heads)\r\n5\r\nuryyb\r\n0\r\n\r\n"), .finish)
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains("gzip, gzip"))
    }

    @Test("codings behind a status line that could be another's are unacceptable", arguments: ["Content", "Transfer"])
    func hiddenCodings(_ place: String) async throws {
        let heads = "HTTP/1.1  103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\(place)-Encoding: gzip, gzip\r\n"
        let error = try await failure(of: .send("\(heads)Connection: close\r\n\r\nuryyb"), .finish)
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains("status line"))
    }

    @Test("a gzip bomb is rejected at the limit")
    func gzipBomb() async throws {
        let bomb = Gzip.endlessZeros(copies: 20_000)
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
        let error = try await failure(
            of: .send(Array(head.utf8) + bomb), .awaitClientLeaving, maximumBody: 100_000)
        #expect(error.kind == .unacceptable)
        #expect(error.message.contains("100000 bytes"))
    }

    @Test("400 kB of headers are rejected")
    func largeHeaders() async throws {
        let field = "X-Filler: " + String(repeating: "x", count: 990) + "\r\n"
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 400)), .awaitClientLeaving)
        #expect(error.kind == .unacceptable)
    }

    @Test("one header line of 400 kB is rejected")
    func largeHeaderLine() async throws {
        let error = try await failure(
            of: .send("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 400_000)), .awaitClientLeaving)
        #expect(error.kind == .unacceptable)
    }

    @Test(
        "a response that is not HTTP is unacceptable",
        arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "\u{15}\u{3}\u{1}\u{0}"])
    func malformed(_ answer: String) async throws {
        #expect(try await failure(of: .send(answer), .awaitClientLeaving).kind == .unacceptable)
    }

    @Test("a refused connection is unreachable")
    func refused() async throws {
        try await Sockets.withRefusingPort { port in
            let error = try await transport.failure(of: HTTPRequest(method: "POST", url: "http://127.0.0.1:\(port)/"))
            #expect(error.kind == .unreachable)
            #expect(error.message.contains("127.0.0.1:\(port)"))
        }
    }

    @Test("a TLS handshake answered by something else is unreachable")
    func noTLS() async throws {
        let server = try ScriptedServer([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .awaitClientLeaving])
        let error = try await transport.failure(of: HTTPRequest(url: "https://127.0.0.1:\(server.port)/"))
        #expect(error.kind == .unreachable)
    }

    @Test("a TLS handshake that stalls until the deadline is unreachable, as nothing was sent")
    func stalledHandshake() async throws {
        let server = try ScriptedServer([.awaitClientLeaving])
        let request = HTTPRequest(url: "https://127.0.0.1:\(server.port)/", deadline: .milliseconds(300))
        #expect(try await transport.failure(of: request).kind == .unreachable)
    }

    @Test("messages name the host, but neither password nor query nor header values")
    func quietMessages() async throws {
        let server = try ScriptedServer([.receive, .reset], [.receive, .send("junk\r\n")])
        let authority = "127.0.0.1:\(server.port)"
        let request = HTTPRequest(
            url: "http://me:s3cret@\(authority)/path?token=s3cret", headers: [HTTPHeader("X-Api-Key", "s3cret")])
        var refused = request
        refused.url = "http://me:s3cret@\(authority):99999999/?token=s3cret"
        for request in [request, request, refused] {
            let message = try await transport.failure(of: request).message
            #expect(message.contains(authority))
            #expect(!message.contains("s3cret"))
        }
    }
}
