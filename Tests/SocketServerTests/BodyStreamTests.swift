import SocketServer
import Synchronization
import TestSupport
import Testing

extension SocketServerTests {
    /// Streamed request bodies and responses sent in pieces.
    @Suite struct BodyStreamTests {
        /// Every PUT streams; the response is the number of bytes received.
        private func run(
            limit: Int = 10_000_000, limits: ServerLimits = .quick,
            handler: @escaping @Sendable (Request) async -> Response = BodyStreamTests.count,
            _ body: (TestServer) async throws -> Void
        ) async throws {
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, handler: handler,
                streams: { method, _ in method == "PUT" ? limit : nil })
            try await TestServer.run(server, body)
        }

        private static let count: @Sendable (Request) async -> Response = { request in
            guard let stream = request.stream else { return Response(status: 200, body: request.body) }
            var (size, largest) = (0, 0)
            while let piece = try? await stream() {
                size += piece.count
                largest = max(largest, piece.count)
            }
            return Response(status: 200, body: Array("\(size) in pieces of at most \(largest)".utf8))
        }

        @Test func `delivers a large body in small pieces`() async throws {
            try await run { server in
                let client = try server.connect()
                let size = 3_000_000
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
                client.send([UInt8](repeating: 7, count: size))
                let answer = try client.receiveAnswer()
                let words = answer.body.split(separator: " ")
                #expect(words.first == "3000000")
                #expect(try #require(words.last.flatMap { Int($0) }) <= ServerLimits().readAheadBytes)
            }
        }

        @Test func `serves the next request on the connection after a streamed body`() async throws {
            try await run { server in
                let client = try server.connect()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                client.send(
                    "PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
                client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
                #expect(try client.receiveAnswer().body.hasPrefix("3 "))
                #expect(try client.receiveAnswer().body.hasPrefix("3 "))
                #expect(try client.receiveAnswer().body == "hi")
            }
        }

        @Test func `asks for the body only when the handler reads it`() async throws {
            let refusing: @Sendable (Request) async -> Response = { request in
                request.path == "/no" ? Response(status: 401) : await Self.count(request)
            }
            try await run(handler: refusing) { server in
                let client = try server.connect()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
                #expect(try client.receive(through: "\r\n\r\n").contains("100 Continue"))
                client.send("abc")
                #expect(try client.receiveAnswer().status == 200)
                client.send("PUT /no HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
                let answer = try client.receiveAnswer()
                #expect(answer.status == 401)
                #expect(answer.head.contains("Connection: close"))
            }
        }

        @Test(arguments: ["Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n"])
        func `rejects a body larger than the request's limit`(_ rest: String) async throws {
            try await run(limit: 10) { server in
                let client = try server.connect()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\n\(rest)")
                #expect(try client.receiveAnswer().status == 413)
            }
        }

        @Test func `answers 408 when the body stalls`() async throws {
            var limits = ServerLimits.quick
            limits.body = .milliseconds(50)
            try await run(limits: limits) { server in
                let client = try server.connect()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
                #expect(try client.receiveAnswer().status == 408)
            }
        }

        @Test func `reports a truncated body to the handler`() async throws {
            let ended = Mutex(false)
            try await run(handler: { request in
                do { while try await request.stream?() != nil {} } catch { ended.withLock { $0 = true } }
                return Response(status: 200)
            }) { server in
                let client = try server.connect()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
                client.finishSending()
                #expect(try client.receiveAnswer().status == 400)
            }
            #expect(ended.withLock { $0 })
        }

        @Test func `sends an answer piece by piece, with its length`() async throws {
            let size = 1_000_000
            let answering: @Sendable (Request) async -> Response = { _ in
                Response(status: 200, headers: [], length: size) { offset in
                    [UInt8](repeating: UInt8(ascii: "a"), count: min(70_000, size - offset))
                }
            }
            try await run(handler: answering) { server in
                let client = try server.connect()
                client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAnswer().body.utf8.count == size)
                client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = try client.receiveAnswer(hasBody: false).head
                #expect(head.contains("Content-Length: \(size)"))
            }
        }

        @Test func `truncates an answer when its source fails`() async throws {
            struct Failure: Error {}
            let failing: @Sendable (Request) async -> Response = { _ in
                Response(status: 200, headers: [], length: 10) { offset in
                    guard offset == 0 else { throw Failure() }
                    return Array("abc".utf8)
                }
            }
            try await run(handler: failing) { server in
                let client = try server.connect()
                client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAll().hasSuffix("\r\n\r\nabc"))
            }
        }
    }
}
