import Foundation
import Testing

@testable import Upstream

@Suite("libcurl transport: requests", .timeLimit(.minutes(10)))
struct CurlTransportRequestTests {
    private static let empty = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    /// The bytes that arrive for a request to this path.
    private func sent(_ path: String = "/", _ change: (inout HTTPRequest) -> Void) async throws -> String {
        let server = try ScriptedServer([.receive, Self.empty])
        var request = HTTPRequest(url: server.url + path)
        change(&request)
        _ = try await CurlTransport(userAgent: "test/1").send(request)
        return try #require(await server.nextRequest())
    }

    @Test("PATCH arrives verbatim, with its body and no added Content-Type")
    func patch() async throws {
        let text = try await sent("/a/b%20c?x=1&y=%2F") {
            $0.method = "PATCH"
            $0.headers = [HTTPHeader("If-Match", "\"7\""), HTTPHeader("X-Twice", "1"), HTTPHeader("X-Twice", "2")]
            $0.body = Array(#"{"a":"ü"}"#.utf8)
        }
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines.first == "PATCH /a/b%20c?x=1&y=%2F HTTP/1.1")
        #expect(lines.last == #"{"a":"ü"}"#)
        #expect(lines.contains("Content-Length: 10"))
        #expect(lines.contains("If-Match: \"7\""))
        #expect(lines.filter { $0.hasPrefix("X-Twice") } == ["X-Twice: 1", "X-Twice: 2"])
        #expect(lines.contains("User-Agent: test/1"))
        #expect(!lines.contains { $0.hasPrefix("Content-Type") || $0.hasPrefix("Expect") })
    }

    @Test("HTTP/1.1 alone is offered, because libcurl takes a stream of HTTP/2 that the server gives up for whole")
    func versions() async throws {
        let server = try ScriptedServer([.receivePiece])
        _ = try? await CurlTransport(userAgent: "test/1").send(HTTPRequest(url: "https://127.0.0.1:\(server.port)/"))
        // They are in the first message of TLS, each after its length, and all of them after theirs (RFC 7301, 3.1).
        #expect(await server.nextRequest()?.contains("\0\u{9}\u{8}http/1.1") == true)
    }

    @Test("a body of 3 MB is sent without waiting for 100 Continue", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func largeBody(_ method: String) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20)
        let text = try await sent {
            $0.method = method
            $0.headers = [HTTPHeader("content-type", "application/json")]
            $0.body = body
        }
        #expect(text.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(text.utf8.suffix(body.count).elementsEqual(body))
        #expect(text.contains("\r\ncontent-type: application/json\r\n"))
        #expect(!text.contains("Expect"))
    }

    @Test("the encodings that a request accepts replace those that are usual")
    func encodings() async throws {
        func encodings(_ text: String) -> [String] {
            text.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("accept-encoding:") }
        }
        #expect(try await encodings(sent { _ in }).first?.contains("gzip") == true)
        let plain = try await sent { $0.headers = [HTTPHeader("Accept-Encoding", "identity")] }
        #expect(encodings(plain) == ["Accept-Encoding: identity"])
    }

    @Test("methods that expect a body send Content-Length: 0 without one", arguments: ["POST", "PUT", "PATCH"])
    func emptyBody(_ method: String) async throws {
        let text = try await sent { $0.method = method }
        #expect(text.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(text.contains("\r\nContent-Length: 0\r\n"))
    }

    @Test("methods without a body send no Content-Length", arguments: ["GET", "DELETE", "HEAD"])
    func noBody(_ method: String) async throws {
        let text = try await sent { $0.method = method }
        #expect(text.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(!text.contains("Content-Length"))
    }

    @Test("an empty header is sent, not dropped", arguments: ["", " "])
    func emptyHeader(_ value: String) async throws {
        #expect(try await sent { $0.headers = [HTTPHeader("X-Empty", value)] }.contains("\r\nX-Empty:\r\n"))
    }

    @Test("a header may contain any other text")
    func arbitraryHeader() async throws {
        let value = #"a;b: "c", =?é\ "#
        #expect(try await sent { $0.headers = [HTTPHeader("X-Any", value)] }.contains("\r\nX-Any: \(value)\r\n"))
    }

    @Test(
        "a line break, a NUL or an invalid name is rejected before anything is sent",
        arguments: [
            HTTPHeader("X", "a\r\nEvil: 1"), HTTPHeader("X", "a\nEvil: 1"), HTTPHeader("X", "a\r"),
            HTTPHeader("X", "a\0b"), HTTPHeader("X\r\nEvil", "1"), HTTPHeader("X:", "1"), HTTPHeader("", "1"),
            HTTPHeader("X Y", "1"), HTTPHeader("X;", ""),
        ])
    func refusedHeader(_ header: HTTPHeader) async throws {
        let server = try ScriptedServer([.receive, Self.empty])
        let transport = try CurlTransport(userAgent: "test")
        let error = try await transport.failure(of: HTTPRequest(url: server.url, headers: [header]))
        #expect(error.kind == .unsendable)
        #expect(server.acceptedConnections == 0)
    }

    @Test("a method that would smuggle a line is rejected", arguments: ["", "GET /x HTTP/1.1\r\nEvil: 1\r\n", "GE T"])
    func refusedMethod(_ method: String) async throws {
        let server = try ScriptedServer([.receive, Self.empty])
        let transport = try CurlTransport(userAgent: "test")
        let error = try await transport.failure(of: HTTPRequest(method: method, url: server.url))
        #expect(error.kind == .unsendable)
        #expect(server.acceptedConnections == 0)
    }

    @Test(
        "only absolute http and https URLs are sent",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1", "/x", "", "http://127.0.0.1/\r\nEvil: 1", "http://",
        ])
    func refusedURL(_ url: String) async throws {
        let error = try await CurlTransport(userAgent: "test").failure(of: HTTPRequest(url: url))
        #expect(error.kind == .unsendable)
    }

    @Test("a URL or a header that is too long is refused before anything is sent, and the message says which")
    func tooLong() async throws {
        let server = try ScriptedServer([.receive, Self.empty])
        let transport = try CurlTransport(userAgent: "test")
        let long = String(repeating: "x", count: 2_000_000)
        for (request, part) in [
            (HTTPRequest(url: server.url + "/?token=" + long), "its URL has more than 65536 bytes"),
            (
                HTTPRequest(url: server.url, headers: [HTTPHeader("If-Match", long)]),
                "its header If-Match has more than 65536 bytes"
            ),
        ] {
            let error = try await transport.failure(of: request)
            #expect(error.kind == .unsendable && error.message.contains(part))
        }
        #expect(server.acceptedConnections == 0)
    }

    @Test("with a Unix socket, every request goes there whatever its host")
    func unixSocket() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sock").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try ScriptedServer([.receive, Self.empty], unixSocketPath: path)
        let transport = try CurlTransport(userAgent: "test", unixSocketPath: path)
        let response = try await transport.send(HTTPRequest(url: "http://api.example.invalid/x"))
        #expect(response.status == 200)
        #expect(try #require(await server.nextRequest()).contains("\r\nHost: api.example.invalid\r\n"))
    }

    @Test("a missing Unix socket is unreachable")
    func noUnixSocket() async throws {
        let transport = try CurlTransport(userAgent: "test", unixSocketPath: "/nonexistent/socket")
        let error = try await transport.failure(of: HTTPRequest(url: "http://api.example.invalid/x"))
        #expect(error.kind == .unreachable)
    }
}
