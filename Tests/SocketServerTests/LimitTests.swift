import Glibc
import SocketServer
import Synchronization
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct LimitTests {
        @Test("a head that arrives too slowly gets 408 at its deadline")
        func slowHead() async throws {
            var limits = ServerLimits.quick
            limits.head = .milliseconds(100)
            try await TestServer.run(limits: limits) { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost:")
                #expect(statuses(try client.receiveAll()) == [408])
            }
        }

        @Test("a body that does not arrive gets 408 at its deadline")
        func slowBody() async throws {
            var limits = ServerLimits.quick
            limits.body = .milliseconds(100)
            try await TestServer.run(limits: limits) { server in
                let client = try server.connect()
                client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                #expect(statuses(try client.receiveAll()) == [408])
            }
        }

        @Test(
            "a browser is told to forget cookies that make the head too large, which any port of the host may have set",
            arguments: [
                ("Cookie: a=\(String(repeating: "x", count: 23_000))", true),
                ("cookie: a=\(String(repeating: "x", count: 9000))\r\nX: \(String(repeating: "y", count: 9000))", true),
                ("Cookie: a=b\r\nX: \(String(repeating: "y", count: 20_000))", false),
                ("X: \(String(repeating: "y", count: 20_000))", false),
            ])
        func cookies(_ fields: String, _ clears: Bool) async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
                let answer = try client.receiveAnswer()
                #expect(answer.status == 431)
                #expect(answer.head.contains("\r\nClear-Site-Data: \"cookies\"\r\n") == clears)
            }
        }

        @Test("a caller who may not call is refused at the end of the head, and only once")
        func screened() async throws {
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: .quick, handler: TestServer.describe,
                screen: { $0.headers[single: "X-Who"] == "friend" ? nil : Response(status: 401) })
            try await TestServer.run(server) { server in
                // The body never comes.
                for framing in ["Content-Length: 5", "Transfer-Encoding: chunked"] {
                    let stranger = try server.connect()
                    stranger.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\nExpect: 100-continue\r\n\r\n")
                    #expect(statuses(try stranger.receiveAll()) == [401])
                }
                let friend = try server.connect()
                friend.send("POST / HTTP/1.1\r\nHost: a\r\nX-Who: friend\r\nContent-Length: 5\r\n\r\nab")
                friend.send("cde")
                #expect(try friend.receiveAnswer().body == "POST / abcde")
            }
        }

        @Test("a path can have a smaller limit, beyond which no byte of a body is waited for")
        func smallBodies() async throws {
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: .quick, handler: TestServer.describe,
                bodies: { $0 == "/open" ? 10 : nil })
            try await TestServer.run(server) { server in
                for framing in ["Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\n"] {
                    let large = try server.connect()
                    large.send("POST /open HTTP/1.1\r\nHost: a\r\n\(framing)")
                    #expect(statuses(try large.receiveAll()) == [413])
                }
                let client = try server.connect()
                client.send("POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789")
                #expect(try client.receiveAnswer().body == "POST /open 0123456789")
                client.send("POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n0123456789a")
                #expect(try client.receiveAnswer().body == "POST /other 0123456789a")
            }
        }

        @Test("unfinished bodies on all connections of strangers leave room for a member's largest")
        func strangersBodies() async throws {
            let limits = ServerLimits.quick
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, handler: TestServer.describe,
                lookup: { _, peer in
                    if case .tcp(let remote, _) = peer, remote.address == "127.0.0.2" { return .unknown }
                    return Caller(user: 1, access: .member)
                }, bodies: { $0 == "/open" ? 1024 : nil })
            try await TestServer.run(server) { server in
                let strangers = try (0..<limits.strangerConnections).map { _ in try server.connect(from: "127.0.0.2") }
                for stranger in strangers {
                    stranger.send("POST /open HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 15_000))\r\n")
                    stranger.send("Content-Length: 1024\r\n\r\n\(String(repeating: "y", count: 1023))")
                }
                let member = try server.connect()
                let body = String(repeating: "z", count: limits.bodyBytes)
                member.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                member.send(body)
                #expect(try member.receiveAnswer().status == 200)
                for stranger in strangers {
                    stranger.send("y")
                    #expect(try stranger.receiveAnswer().status == 200)
                }
            }
        }

        @Test("bodies over the common limit get 503, and their room is free again afterwards")
        func allBodies() async throws {
            var limits = ServerLimits.quick
            limits.bodyBytes = 200_000
            limits.allBodiesBytes = 100_000
            try await TestServer.run(limits: limits) { server in
                for size in [150_000, 80_000, 150_000, 80_000] {
                    let client = try server.connect()
                    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
                    client.send(String(repeating: "x", count: size))
                    #expect(try client.receiveAnswer().status == (size > 100_000 ? 503 : 200))
                }
            }
        }

        @Test("when unsent answers take all their memory, a caller who does not read is dropped")
        func unsent() async throws {
            var limits = ServerLimits.quick
            limits.write = .seconds(60)
            limits.allUnsentBytes = 1000
            let size = 32 << 20
            try await TestServer.run(
                limits: limits,
                handler: { request in
                    Response(status: 200, body: [UInt8](repeating: 120, count: request.path == "/large" ? size : 10))
                }
            ) { server in
                let client = try server.connect(receiveBuffer: 4096)
                client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAll().utf8.count < size)
                let other = try server.connect()
                other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try other.receiveAnswer().status == 200)
            }
        }

        @Test("however much a caller sends and receives, the kernel keeps little of it")
        func keptByTheKernel() async throws {
            let accepted = Atomic<Int32>(-1)
            let lookup: Caller.Lookup = { descriptor, _ in
                accepted.store(descriptor, ordering: .relaxed)
                return .unknown
            }
            let large = [UInt8](repeating: 120, count: 1 << 20)
            try await TestServer.run(limits: .quick, lookup: lookup) { _ in
                Response(status: 200, body: large)
            } _: { server in
                let client = try server.connect()
                let body = String(decoding: large, as: UTF8.self)
                // The kernel makes a buffer larger where much goes through it at once.
                for _ in 1...50 {
                    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                    #expect(try client.receiveAnswer().status == 200)
                }
                let descriptor = accepted.load(ordering: .relaxed)
                for (buffer, most) in [(SO_SNDBUF, 256 << 10), (SO_RCVBUF, 128 << 10)] {
                    var bytes: Int32 = 0
                    var size = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(descriptor, SOL_SOCKET, buffer, &bytes, &size)
                    #expect(Int(bytes) == most)
                }
            }
        }

        @Test("an answer that is not received completely counts whole, because all of it is in memory")
        func nearlyReceived() async throws {
            var limits = ServerLimits.quick
            limits.write = .seconds(60)
            limits.allUnsentBytes = 48 << 20
            let body = [UInt8](repeating: 120, count: 32 << 20)
            try await TestServer.run(limits: limits, handler: { _ in Response(status: 200, body: body) }) { server in
                let slow = try (1...2).map { _ in try server.connect(receiveBuffer: 4096) }
                slow[0].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                var received = 0
                while received < 20 << 20 { received += try slow[0].receive().count }
                slow[1].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try slow[1].receiveAll().utf8.count < body.count)
            }
        }

        @Test("a connection that never sends anything is closed without a response")
        func silence() async throws {
            var limits = ServerLimits.quick
            limits.head = .milliseconds(100)
            try await TestServer.run(limits: limits) { server in
                let client = try server.connect()
                #expect(try client.receiveAll() == "")
            }
        }

        @Test("a connection idle between requests is closed without a response")
        func idle() async throws {
            var limits = ServerLimits.quick
            limits.idle = .milliseconds(100)
            try await TestServer.run(limits: limits) { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(statuses(try client.receiveAll()) == [200])
            }
        }

        @Test("a stalled reader is dropped at the write deadline while others are served")
        func stalledReader() async throws {
            var limits = ServerLimits.quick
            limits.write = .milliseconds(200)
            let size = 20_000_000
            try await TestServer.run(limits: limits, threads: 1) { request in
                Response(status: 200, body: [UInt8](repeating: 0x61, count: request.path == "/large" ? size : 1))
            } _: { server in
                let stalled = try server.connect(receiveBuffer: 4096)
                stalled.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                // The deadline begins with the answer.
                _ = try stalled.receive(through: "\r\n\r\n")
                let end = ContinuousClock.now + .seconds(1)
                let other = try server.connect()
                repeat {
                    other.send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try other.receiveAnswer().body == "a")
                } while ContinuousClock.now < end
                #expect(try stalled.receiveAll().utf8.count < size)
            }
        }

        @Test("a connection beyond the limit gets 503, and a new one is accepted once another closes")
        func connectionCap() async throws {
            var limits = ServerLimits.quick
            limits.connections = 1
            try await TestServer.run(limits: limits) { server in
                var first: TestClient? = try server.connect()
                first?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try first?.receiveAnswer().status == 200)
                #expect(statuses(try server.connect().receiveAll()) == [503])
                first = nil
                var status = 503
                for _ in 0..<1000 where status == 503 {
                    let next = try server.connect()
                    next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    status = (try? next.receiveAnswer().status) ?? 503
                    await Task.yield()
                }
                #expect(status == 200)
            }
        }

        @Test("running out of descriptors drops callers, and the server recovers")
        func descriptorsExhausted() async {
            await #expect(processExitsWith: .success) {
                try await TestServer.run { server in
                    let client = try server.connect()
                    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try client.receiveAnswer()
                    let waiting = try (0..<3).map { _ in try TestClient(unconnected: server.address) }
                    var taken: [Int32] = []
                    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
                    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                    while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
                    for one in waiting { try one.connect(to: server.address) }
                    for one in waiting { guard try one.receiveAll().isEmpty else { exit(3) } }
                    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    guard try client.receiveAnswer().status == 200 else { exit(4) }
                    taken.forEach { close($0) }
                    let later = try server.connect()
                    later.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                    guard try later.receiveAnswer().status == 200 else { exit(5) }
                }
            }
        }
    }
}
