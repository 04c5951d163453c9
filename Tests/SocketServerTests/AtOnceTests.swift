import Dispatch
import Glibc
import SocketServer
import Synchronization
import TestSupport
import Testing

extension SocketServerTests {
    /// Answers that a handler knows at once, among those that come later.
    @Suite struct AtOnceTests {
        private static func run(
            limits: ServerLimits = .quick, threads: Int = 2, _ handler: @escaping SocketServer.Handler = Self.reply,
            _ body: (TestServer) async throws -> Void
        ) async throws {
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, threads: threads, answering: handler,
                streams: { method, _ in method == "PUT" ? 100 : nil })
            try await TestServer.run(server, body)
        }

        /// Says how it has been called; `/later` is answered later, after others could have run.
        private static let reply: SocketServer.Handler = { request in
            if request.path == "/large" { return .now(Response(status: 200, body: large)) }
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            let text = "\(request.method) \(request.path) \(isInTask ? "in a task" : "at once") "
            let response = Response(status: 200, body: Array(text.utf8) + request.body)
            guard request.path == "/later" || request.stream != nil else { return .now(response) }
            return .later {
                await Task.yield()
                while let piece = try? await request.stream?(), !piece.isEmpty {}
                return response
            }
        }

        private static let large = [UInt8](repeating: UInt8(ascii: "a"), count: 3_000_000)

        private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

        @Test func `a request on an idle connection is answered without its task`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                for _ in 1...3 {
                    client.send(Self.get("/a"))
                    #expect(try client.receiveAnswer().body == "GET /a at once ")
                }
            }
        }

        @Test func `pipelined answers keep their order, whether they come at once or later`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                let paths = ["/first", "/a", "/later", "/b", "/later", "/later", "/c"]
                client.send(Self.get("/first"))
                #expect(try client.receiveAnswer().body.hasPrefix("GET /first "))
                client.send(paths.map(Self.get).joined())
                for path in paths { #expect(try client.receiveAnswer().body.hasPrefix("GET \(path) ")) }
                client.send(Self.get("/d"))
                #expect(try client.receiveAnswer().body == "GET /d at once ")
            }
        }

        @Test func `an answer that the kernel takes in parts arrives whole, and the next one after it`() async throws {
            try await Self.run { server in
                let client = try server.connect(receiveBuffer: 8192)
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send(Self.get("/large") + Self.get("/a"))
                #expect(try client.receiveAnswer().body.utf8.elementsEqual(Self.large))
                #expect(try client.receiveAnswer().body.hasPrefix("GET /a "))
            }
        }

        @Test func `a request that arrives in parts is answered`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send(Self.get("/a") + "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n12")
                #expect(try client.receiveAnswer().body == "GET /a at once ")
                client.send("34")
                #expect(try client.receiveAnswer().body.hasSuffix(" 1234"))
                client.send(Self.get("/c"))
                #expect(try client.receiveAnswer().body == "GET /c at once ")
            }
        }

        @Test func `a body that streams is read before the next request`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n1234" + Self.get("/b"))
                #expect(try client.receiveAnswer().body.hasPrefix("PUT /a "))
                #expect(try client.receiveAnswer().body.hasPrefix("GET /b "))
            }
        }

        @Test(arguments: [false, true])
        func `a caller who sends many requests at once lets others have their turn`(isLater: Bool) async throws {
            let answered = Answered()
            try await Self.run(threads: 1) { request in
                answered.holdFirst(request.path)
                usleep(20_000)
                answered.note(request.path)
                let response = Response(status: 200, body: [])
                return request.path == "/later" ? .later { response } : .now(response)
            } _: { server in
                let (crowd, other) = (try server.connect(), try server.connect())
                for client in [crowd, other] {
                    client.send(Self.get("/first"))
                    _ = try client.receiveAnswer()
                }
                // The task answers this one, and goes on with the requests after it.
                let head = isLater ? Self.get("/later") : ""
                crowd.send(head + String(repeating: Self.get("/crowd"), count: 50))
                other.send(Self.get("/other"))
                answered.goOn()
                _ = try other.receiveAnswer()
                #expect(answered.count(of: "/crowd") < 25)
            }
        }

        @Test func `a crowd of connections that send many requests at once lets others have their turn`() async throws {
            let answered = Answered()
            try await Self.run(threads: 1) { request in
                answered.holdFirst(request.path)
                usleep(10_000)
                answered.note(request.path)
                return .now(Response(status: 200, body: []))
            } _: { server in
                let (crowd, other) = (try (1...10).map { _ in try server.connect() }, try server.connect())
                for client in crowd + [other] {
                    client.send(Self.get("/first"))
                    _ = try client.receiveAnswer()
                }
                for client in crowd { client.send(String(repeating: Self.get("/crowd"), count: 20)) }
                other.send(Self.get("/other"))
                answered.goOn()
                _ = try other.receiveAnswer()
                #expect(answered.count(of: "/crowd") < 30)
            }
        }

        /// How often the handler has been called for each path. The first call for the crowd waits until the test goes on, so that
        /// everything has been sent by then, however slow the machine.
        private final class Answered: Sendable {
            private let counts = Mutex<[String: Int]>([:])
            private let mayGoOn = DispatchSemaphore(value: 0)
            func holdFirst(_ path: String) { if path == "/crowd", count(of: path) == 0 { mayGoOn.wait() } }
            func goOn() { mayGoOn.signal() }
            func note(_ path: String) { counts.withLock { $0[path, default: 0] += 1 } }
            func count(of path: String) -> Int { counts.withLock { $0[path] ?? 0 } }
        }

        @Test func `HEAD gets the length alone, and an unchanged answer no length`() async throws {
            try await Self.run({ request in
                .now(Response(status: request.path == "/old" ? 304 : 200, body: Array("text".utf8)))
            }) { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get("/old") + Self.get("/b"))
                #expect(try client.receiveAnswer(hasBody: false).head.contains("Content-Length: 4\r\n"))
                let unchanged = try client.receiveAnswer(hasBody: false)
                #expect(unchanged.status == 304 && !unchanged.head.contains("Content-Length"))
                #expect(try client.receiveAnswer().body == "text")
            }
        }

        @Test func `a malformed request after a good one is refused, and the connection closes`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send(Self.get("/a") + "nonsense\r\n\r\n" + Self.get("/b"))
                #expect(statuses(try client.receiveAll()) == [200, 400])
            }
        }

        @Test func `a connection closes after the answer that says so`() async throws {
            try await Self.run { server in
                let client = try server.connect()
                client.send(Self.get("/first"))
                _ = try client.receiveAnswer()
                client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + Self.get("/b"))
                let text = try client.receiveAll()
                #expect(statuses(text) == [200] && text.contains("Connection: close"))
            }
        }
    }
}
