import EntitySchema
import Foundation
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Upstream

@Suite(.timeLimit(.minutes(10)))
struct ContentTransferTests {
    /// The bytes that a sink received.
    private final class Taken: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        var all: [UInt8] { bytes.withLock { $0 } }

        func sink(limit: Int = .max) -> BodySink {
            BodySink { piece in
                self.bytes.withLock { bytes in
                    guard bytes.count + piece.count <= limit else { return false }
                    bytes += piece
                    return true
                }
            }
        }
    }

    private struct FixedToken: Credentials {
        func current() async throws(UpstreamError) -> String? { "secret" }
        func renew(refused token: String?) async throws(UpstreamError) -> Bool { false }
    }

    private func upstream(
        _ transport: any HTTPTransport, base: String = "https://api.example/v1", allowsPlainHTTP: Bool = false,
        fetchesElsewhere: Bool = true
    ) throws -> HTTPUpstream {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: "\(base)" }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        return HTTPUpstream(
            UpstreamAccess(plan: schema.upstream, transport: transport, now: { Timestamp.sample }), token: FixedToken(),
            contents: ContentOrigins(allowsElsewhere: fetchesElsewhere, allowsPlainHTTP: allowsPlainHTTP))
    }

    private func asked(for address: String, status: Int = 200) async throws -> HTTPRequest {
        let transport = ScriptedTransport { _ in HTTPResponse(status: status) }
        _ = try await upstream(transport).download(address, limit: 10, into: Taken().sink())
        return try #require(transport.requests.first)
    }

    // MARK: Hosts and credentials

    @Test(arguments: ["https://api.example/v1/pictures/1", "/v1/pictures/1"])
    func `asks the upstream itself with the token`(_ address: String) async throws {
        let request = try await asked(for: address)
        #expect(request.url == "https://api.example/v1/pictures/1")
        #expect(request.header("Authorization") == "Bearer secret")
    }

    @Test(arguments: [
        "https://cdn.example/1.png", "https://api.example:8443/v1/1.png",
        "https://api.example/other/1.png", "//cdn.example/1.png", "https://api.example@cdn.example/v1/1.png",
    ])
    func `asks other hosts without the token, and only at public addresses`(_ address: String) async throws {
        let request = try await asked(for: address)
        #expect(request.header("Authorization") == nil)
        #expect(request.isPublicOnly && !request.mayReachThisMachine)
    }

    @Test(arguments: ["http://cdn.example/1.png", "http://api.example/v1/1.png", "HTTP://127.0.0.1@cdn.example/"])
    func `fetches nothing unencrypted from another machine unless that is allowed`(_ address: String) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        await #expect(throws: UpstreamError.self) {
            try await upstream(transport).download(address, limit: 10, into: Taken().sink())
        }
        #expect(transport.requests.isEmpty)
        _ = try await upstream(transport, allowsPlainHTTP: true).download(address, limit: 10, into: Taken().sink())
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("https://ada:secret@cdn.example/1.png?a=@b", "https://cdn.example/1.png?a=@b"),
        ("https://a@b@cdn.example/1.png", "https://cdn.example/1.png"),
        ("https://cdn.example/a@b", "https://cdn.example/a@b"),
        ("https://ada@cdn.example", "https://cdn.example"), ("//ada@cdn.example/1.png", "https://cdn.example/1.png"),
        ("https://ada:secret@\u{301}cdn.example/", "https://\u{301}cdn.example/"),
        ("HTTPS://cdn.example?\u{301}@b", "https://cdn.example?\u{301}@b"),
    ])
    func `takes no user and password from a record`(_ address: String, _ asked: String) async throws {
        #expect(try await self.asked(for: address).url == asked)
    }

    @Test(arguments: [
        #"https://ada:1\@cdn.example/1.png"#, #"https://api.example\@cdn.example/1.png"#,
        "http:/ada:1@cdn.example/1.png", "https:///ada:1@cdn.example/1.png", "https:ada:1@cdn.example/1.png",
        "https://ada:1@/1.png", "ftp://cdn.example/1.png",
    ])
    func `asks for no address that another program could read differently`(_ address: String) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        await #expect(throws: UpstreamError.self) {
            try await upstream(transport, allowsPlainHTTP: true).download(address, limit: 10, into: Taken().sink())
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [202, 206, 207, 226])
    func `keeps nothing of an answer that is not the whole content`(_ status: Int) async throws {
        let server = try ScriptedServer([
            .receive, .send("HTTP/1.1 \(status) X\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\npart"),
        ])
        let taken = Taken()
        let upstream = try upstream(try CurlTransport(userAgent: "test"), base: server.url)
        await #expect(throws: UpstreamError.self) {
            try await upstream.download("/1.png", limit: 10, into: taken.sink())
        }
        #expect(taken.all.isEmpty)
    }

    @Test func `follows no redirect`() async throws {
        let transport = ScriptedTransport { _ in
            HTTPResponse(status: 302, headers: [HTTPHeader("Location", "http://127.0.0.1/")])
        }
        await #expect(throws: UpstreamError.self) {
            try await upstream(transport).download("https://cdn.example/1.png", limit: 10, into: Taken().sink())
        }
        #expect(transport.requests.count == 1)
    }

    @Test func `ignores another host's failures as evidence about the upstream`() async throws {
        let unreachable = ScriptedTransport { _ throws(TransportError) in throw .unreachable("no route") }
        await #expect(throws: UpstreamError.unclear(status: nil, "no route")) {
            try await upstream(unreachable).download("https://cdn.example/1.png", limit: 10, into: Taken().sink())
        }
        #expect(try !upstream(unreachable).serves("https://cdn.example/1.png"))
    }

    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1", "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "nonsense", "",
    ])
    func `recognises local addresses`(_ address: String) {
        #expect(!NetworkAddress.isPublic(address))
    }

    @Test(arguments: ["93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
    func `recognises public addresses`(_ address: String) {
        #expect(NetworkAddress.isPublic(address))
    }

    @Test func `sends nothing to a local address that a record names`() async throws {
        let server = try ScriptedServer([.receive, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        var request = HTTPRequest(url: server.url + "/admin")
        request.isPublicOnly = true
        let sent = request
        let error = await #expect(throws: TransportError.self) {
            try await CurlTransport(userAgent: "test/1").send(sent)
        }
        #expect(error?.kind == .unreachable && error?.message.contains("127.0.0.1") == true)
    }

    @Test func `lets an upstream on this machine name other programs here, and none in its network`() async throws {
        let server = try ScriptedServer([
            .receive, .send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\nhere"),
        ])
        let transport = try CurlTransport(userAgent: "test/1")
        let upstream = try upstream(transport, base: "http://127.0.0.1:1", allowsPlainHTTP: true)
        let taken = Taken()
        _ = try await upstream.download(server.url + "/1.png", limit: 10, into: taken.sink())
        #expect(taken.all == Array("here".utf8))
        let error = await #expect(throws: UpstreamError.self) {
            try await upstream.download("http://169.254.169.254/latest", limit: 10, into: Taken().sink())
        }
        #expect(error?.message.contains("only this machine or its network can reach") == true)
    }

    @Test(arguments: ["http://127.0.0.1:1/1.png", "//localhost:1/1.png", "https://cdn.example/1.png"])
    func `fetches nothing from elsewhere for a sample`(_ address: String) async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        let upstream = try upstream(transport, base: "http://127.0.0.1:2", fetchesElsewhere: false)
        await #expect(throws: UpstreamError.self) {
            try await upstream.download(address, limit: 10, into: Taken().sink())
        }
        _ = try await upstream.download("http://127.0.0.1:2/1.png", limit: 10, into: Taken().sink())
        #expect(transport.requests.map(\.url) == ["http://127.0.0.1:2/1.png"])
    }

    // MARK: Over a socket

    @Test func `sends a body from its source`() async throws {
        let server = try ScriptedServer([.receive, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        var request = HTTPRequest(
            method: "PUT", url: server.url + "/a", headers: [HTTPHeader("Content-Type", "image/png")])
        request.source = BodySource(size: 10) { offset, count in
            Array("0123456789".utf8.dropFirst(offset).prefix(count))
        }
        _ = try await CurlTransport(userAgent: "test/1").send(request)
        let text = try #require(await server.nextRequest())
        #expect(text.hasPrefix("PUT /a HTTP/1.1\r\n"))
        #expect(text.contains("Content-Length: 10\r\n"))
        #expect(text.hasSuffix("\r\n\r\n0123456789"))
    }

    @Test func `sends a form around the content, the same bytes in every attempt`() async throws {
        // A script is one connection: without `close` the second attempt could begin on the first one.
        let answer = #"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{"id":"1"}"#
            .replacing("\\r\\n", with: "\r\n")
        let server = try ScriptedServer([.receive, .send(answer)], [.receive, .send(answer)])
        var request = PushRequest(
            entity: "orders", method: "POST", path: "/orders", body: try JSONText(parsing: #"{"note":"ü"}"#))
        request.content = Content(sha256: "0", size: 10, type: "image/png")
        request.file = PushRequest.File(part: "file", record: "a")
        let digits = BodySource(size: 10) { offset, count in
            Array("0123456789".utf8.dropFirst(offset).prefix(min(count, 3)))
        }
        let upstream = try upstream(CurlTransport(userAgent: "test/1"), base: server.url)
        var bodies: [String] = []
        for _ in 1...2 {
            _ = try await upstream.upload(request, from: digits, idempotencyKey: "k")
            let text = try #require(await server.nextRequest())
            #expect(text.hasPrefix("POST /orders HTTP/1.1\r\n"))
            let body = String(text[(text.firstRange(of: "\r\n\r\n")?.upperBound ?? text.endIndex)...])
            #expect(text.contains("Content-Length: \(body.utf8.count)\r\n"))
            #expect(text.contains("Content-Type: multipart/form-data; boundary=repairminder-sync-k\r\n"))
            bodies.append(body)
        }
        #expect(bodies[0] == bodies[1])
        #expect(
            bodies[0].hasPrefix("--repairminder-sync-k\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nü\r\n"))
        #expect(bodies[0].hasSuffix("Content-Type: image/png\r\n\r\n0123456789\r\n--repairminder-sync-k--\r\n"))
    }

    @Test(arguments: [1, 2, 7, 64])
    func `an enclosed body is read in pieces of any size`(_ piece: Int) {
        let inner = BodySource(size: 5) { offset, count in Array("abcde".utf8.dropFirst(offset).prefix(count)) }
        let whole = inner.enclosed(by: Array("<<".utf8), Array(">>>".utf8))
        var bytes: [UInt8] = []
        while bytes.count < whole.size, let next = whole.read(bytes.count, piece) { bytes += next }
        #expect(String(decoding: bytes, as: UTF8.self) == "<<abcde>>>")
        #expect(whole.read(whole.size, piece) == [])
    }

    @Test func `passes a successful body to the sink, and keeps an error's text`() async throws {
        let taken = Taken()
        let server = try ScriptedServer(
            [.receive, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde")],
            [.receive, .send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")])
        var request = HTTPRequest(url: server.url + "/a")
        request.sink = taken.sink()
        let transport = try CurlTransport(userAgent: "test/1")
        #expect(try await transport.send(request).body.isEmpty)
        #expect(taken.all == Array("abcde".utf8))
        #expect(try await transport.send(request).body == Array("gone".utf8))
        #expect(taken.all.count == 5)
    }

    @Test func `asks for content uncompressed, and takes it compressed only with its length`() async throws {
        let packed = Gzip.stored("hello")
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
        let framed = Array("\(head)Content-Length: \(packed.count)\r\n\r\n".utf8) + packed
        let server = try ScriptedServer([.receive, .send(framed)])
        let taken = Taken()
        _ = try await upstream(CurlTransport(userAgent: "test"), base: server.url)
            .download("\(server.url)/1.pdf", limit: 100, into: taken.sink())
        #expect(taken.all == Array("hello".utf8))
        #expect(await server.requests.first { _ in true }?.contains("Accept-Encoding: identity") == true)
        // Whole chunks of a stream that a gateway has cut.
        let cut = packed.prefix(17)
        let chunk = Array("\(head)Transfer-Encoding: chunked\r\n\r\n\(String(cut.count, radix: 16))\r\n".utf8)
        let gateway = try ScriptedServer([.receive, .send(chunk + cut + Array("\r\n0\r\n\r\n".utf8))])
        let stored = Taken()
        await #expect(throws: UpstreamError.self) {
            try await upstream(CurlTransport(userAgent: "test"), base: gateway.url)
                .download("\(gateway.url)/1.pdf", limit: 100, into: stored.sink())
        }
        #expect(stored.all.isEmpty)
    }

    @Test func `takes content in chunks, but none that ends with its connection`() async throws {
        let server = try ScriptedServer([
            .receive, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
        ])
        let taken = Taken()
        _ = try await upstream(CurlTransport(userAgent: "test"), base: server.url)
            .download("\(server.url)/1.pdf", limit: 100, into: taken.sink())
        #expect(taken.all == Array("abc".utf8))
        for head in ["HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n"] {
            let server = try ScriptedServer([.receive, .send("\(head)abc")])
            let stored = Taken()
            let error = await #expect(throws: UpstreamError.self) {
                try await upstream(CurlTransport(userAgent: "test"), base: server.url)
                    .download("\(server.url)/1.pdf", limit: 100, into: stored.sink())
            }
            #expect(error?.message.contains("send content with Content-Length") == true)
            #expect(stored.all.isEmpty)
        }
    }

    @Test func `aborts a response that the sink refuses`() async throws {
        let server = try ScriptedServer([.receive, .send("HTTP/1.1 200 OK\r\n\r\n"), .flood(Array("abcdefgh".utf8))])
        var request = HTTPRequest(url: server.url + "/a")
        request.sink = Taken().sink(limit: 1000)
        let sent = request
        let error = await #expect(throws: TransportError.self) {
            try await CurlTransport(userAgent: "test/1").send(sent)
        }
        #expect(error?.kind == .unacceptable)
    }
}
