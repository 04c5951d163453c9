import Foundation
import Testing

@testable import Upstream

@Suite("libcurl transport: responses", .timeLimit(.minutes(10)))
struct CurlTransportAnswerTests {
    private func answer(_ text: String, to request: (String) -> HTTPRequest = { HTTPRequest(url: $0) }) async throws
        -> HTTPResponse
    {
        let server = try ScriptedServer([.receive, .send(text)])
        return try await CurlTransport(userAgent: "test").send(request(server.url))
    }

    @Test("status, headers and body come back as they were sent")
    func wholeAnswer() async throws {
        let response = try await answer("HTTP/1.1 201 Created\r\nX-A:  one \r\nContent-Length: 2\r\n\r\nhi")
        let headers = [HTTPHeader("X-A", "one"), HTTPHeader("Content-Length", "2")]
        #expect(response == HTTPResponse(status: 201, headers: headers, body: Array("hi".utf8)))
    }

    @Test("repeated headers stay separate and in order")
    func doubledHeaders() async throws {
        let response = try await answer(
            "HTTP/1.1 200 OK\r\nLink: a\r\nX: 1\r\nLink: b\r\nContent-Length: 0\r\n\r\n")
        #expect(response.headers.filter { $0.name == "Link" }.map(\.value) == ["a", "b"])
        #expect(response.headers.map(\.name) == ["Link", "X", "Link", "Content-Length"])
    }

    @Test("an empty gzip body is an empty answer, with bytes or without")
    func emptyGzip() async throws {
        for body in [[], Gzip.stored("")] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
            let server = try ScriptedServer([.receive, .send(Array(head.utf8) + body)])
            let response = try await CurlTransport(userAgent: "test").send(HTTPRequest(url: server.url))
            #expect(response.status == 200 && response.body.isEmpty)
            #expect(response.isEndCertain == body.isEmpty)
        }
    }

    @Test("the end of a compressed body is not certain, wherever it was cut", arguments: [1, 6, 10, 15, 51])
    func cutGzip(_ length: Int) async throws {
        // A header with a file name of 40 letters.
        let named: [UInt8] = [0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0x61, count: 40) + [0]
        for body in [Gzip.stored(#"{"data":{"id":"1"}}"#).prefix(length), named.prefix(length)] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
            let server = try ScriptedServer([.receive, .send(Array(head.utf8) + body)])
            let response = try await CurlTransport(userAgent: "test").send(HTTPRequest(url: server.url))
            #expect(!response.isEndCertain)
        }
    }

    @Test(
        "the end of an answer is certain if it has a length, a last chunk or no content by its status",
        arguments: [
            "200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}", "204 No Content\r\n\r\n",
            "205 Reset Content\r\nConnection: close\r\n\r\n",
        ])
    func certainEnd(_ text: String) async throws {
        #expect(try await answer("HTTP/1.1 \(text)").isEndCertain)
    }

    @Test(
        "the end of an answer that ends with its connection is not certain",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n{}",
        ])
    func uncertainEnd(_ text: String) async throws {
        #expect(try await !answer(text).isEndCertain)
    }

    @Test("an answer of HTTP/1.0 ends with its connection")
    func oldVersion() async throws {
        let server = try ScriptedServer([.receive, .send("HTTP/1.0 200 OK\r\nX-A: one\r\n\r\n[1, 2]"), .finish])
        let response = try await CurlTransport(userAgent: "test").send(HTTPRequest(url: server.url))
        #expect(response.status == 200 && response.body == Array("[1, 2]".utf8))
    }

    @Test("the headers of an interim response are dropped")
    func interimAnswer() async throws {
        let response = try await answer(
            "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 200)
        #expect(response.header("link") == nil)
    }

    @Test("trailers are not headers")
    func trailers() async throws {
        let response = try await answer(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n")
        #expect(response.body == Array("hi".utf8))
        #expect(response.header("X-Sum") == nil)
    }

    @Test("304 is a response without a body, whatever length it announces")
    func notModified() async throws {
        let response = try await answer("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n")
        #expect(response.status == 304)
        #expect(response.body.isEmpty)
        #expect(response.header("etag") == "\"a\"")
    }

    @Test("HEAD returns only headers, even for a body larger than allowed")
    func head() async throws {
        let response = try await answer("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") {
            HTTPRequest(method: "HEAD", url: $0, maximumBody: 10)
        }
        #expect(response.header("Content-Length") == "1000000")
        #expect(response.body.isEmpty)
    }

    @Test("an error status is a response", arguments: [400, 401, 404, 409, 429, 500, 503])
    func errorStatus(_ status: Int) async throws {
        let response = try await answer("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
        #expect(response.status == status)
        #expect(response.body == Array("no".utf8))
    }

    @Test("a redirect is returned, and its credentials go nowhere else")
    func redirect() async throws {
        let elsewhere = try ScriptedServer([.receive])
        let server = try ScriptedServer(
            [.receive, .send("HTTP/1.1 302 Found\r\nLocation: \(elsewhere.url)/x\r\nContent-Length: 0\r\n\r\n")])
        let request = HTTPRequest(url: server.url, headers: [HTTPHeader("Authorization", "Bearer s3cret")])
        let response = try await CurlTransport(userAgent: "test").send(request)
        #expect(response.status == 302)
        #expect(response.header("location") == "\(elsewhere.url)/x")
        #expect(elsewhere.acceptedConnections == 0)
    }

    @Test("a gzip body is decompressed")
    func gzip() async throws {
        let packed = Gzip.stored("hello")
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let server = try ScriptedServer([.receive, .send(Array(head.utf8) + packed)])
        let response = try await CurlTransport(userAgent: "test").send(HTTPRequest(url: server.url))
        #expect(String(decoding: response.body, as: UTF8.self) == "hello")
    }
}
