import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct ConnectionLimiterTests {
        private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

        /// The owner calls from 127.0.0.1, two members from 127.0.1.1 and 127.0.1.2, a stranger from 127.0.2.2, and another one
        /// from any other address.
        private static let lookup: Caller.Lookup = { _, peer in
            guard case .tcp(let remote, _) = peer else { return .unknown }
            return switch remote.address {
            case "127.0.0.1": Caller(user: 0, access: .owner)
            case "127.0.1.1": Caller(user: 1, access: .member)
            case "127.0.1.2": Caller(user: 2, access: .member)
            case "127.0.2.2": Caller(user: 4, access: .stranger)
            default: Caller(user: 3, access: .stranger)
            }
        }

        /// Eight connections, of which a member may have four and strangers two; `patience` decides which are evicted.
        private static func limits(patience: Duration) -> ServerLimits {
            var limits = ServerLimits.quick
            limits.connections = 8
            limits.userConnections = 4
            limits.strangerConnections = 2
            limits.patienceWhenFull = patience
            return limits
        }

        /// Asks on each connection. Returns when the server has also gone on from its answer to waiting for the next request,
        /// which a connection must do to be evicted: that takes a round of its loop.
        private func ask(_ clients: [TestClient], _ server: TestServer) async throws -> [Int?] {
            var found: [Int?] = []
            for client in clients {
                found.append(client.ask())
                try #require(await server.server.isAlive(within: .seconds(300)))
            }
            return found
        }

        @Test("the limits are the documented ones")
        func figures() {
            let limits = ServerLimits()
            #expect(limits.headBytes == 16 * 1024 && limits.bodyBytes == 1024 * 1024)
            #expect(limits.head == .seconds(10) && limits.body == .seconds(30) && limits.idle == .seconds(60))
            #expect(limits.write == .seconds(30) && limits.shutdown < .seconds(10))
            #expect(limits.connections == 512 && limits.userConnections == 256 && limits.strangerConnections == 128)
            #expect(limits.ownerConnections == 16)
        }

        @Test("members and strangers together leave some connections to the owner")
        func reserved() async throws {
            var limits = Self.limits(patience: .seconds(3600))
            limits.ownerConnections = 2
            try await TestServer.run(limits: limits, lookup: Self.lookup) { server in
                let sources = Array(repeating: "127.0.1.1", count: 3) + Array(repeating: "127.0.1.2", count: 3)
                let members = try sources.map { try server.connect(from: $0) }
                #expect(try await ask(members, server) == [Int?](repeating: 200, count: 6))
                for source in ["127.0.1.1", "127.0.1.2", "127.0.2.2"] {
                    #expect(try server.connect(from: source).ask() == 503, "\(source)")
                }
                let owners = try (0..<3).map { _ in try server.connect(from: "127.0.0.1") }
                #expect(owners.map { $0.ask() } == [200, 200, 503])
                withExtendedLifetime(members) {}
            }
        }

        @Test func `one member cannot take all the memory for bodies, but the owner may`() async throws {
            var limits = ServerLimits.quick
            limits.bodyBytes = 200_000
            limits.allBodiesBytes = 100_000
            func send(_ size: Int, _ client: TestClient) {
                client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size + 1)\r\n\r\n")
                client.send(String(repeating: "x", count: size))
            }
            try await TestServer.run(limits: limits, lookup: Self.lookup) { server in
                let (first, second) = (try server.connect(from: "127.0.1.1"), try server.connect(from: "127.0.1.1"))
                #expect(try await ask([first, second], server) == [200, 200])
                send(40_000, first)
                // The second round begins after what was there in the first has been read.
                for _ in 1...2 { try #require(await server.server.isAlive(within: .seconds(300))) }
                send(40_000, second)
                #expect(try second.receiveAnswer().status == 503)
                let other = try server.connect(from: "127.0.1.2")
                send(40_000, other)
                for client in [first, other] {
                    client.send("x")
                    #expect(try client.receiveAnswer().status == 200)
                }
                let owner = try server.connect(from: "127.0.0.1")
                send(90_000, owner)
                owner.send("x")
                #expect(try owner.receiveAnswer().status == 200)
            }
        }

        @Test func `a member who does not read its answers has no other caller's cut`() async throws {
            var limits = ServerLimits.quick
            limits.write = .seconds(60)
            limits.allUnsentBytes = 64 << 20
            let size = 12 << 20
            try await TestServer.run(
                limits: limits, lookup: Self.lookup,
                handler: { _ in Response(status: 200, body: [UInt8](repeating: 120, count: size)) }
            ) { server in
                let idle = try (0..<8).map { _ in try server.connect(from: "127.0.1.1") }
                for client in idle {
                    client.send(Self.get)
                    _ = try client.receive()
                }
                let other = try server.connect(from: "127.0.1.2")
                other.send(Self.get)
                #expect(try other.receiveAnswer().body.utf8.count == size)
            }
        }

        @Test("strangers and each member get part of the connections, the owner the rest")
        func shares() async throws {
            try await TestServer.run(limits: Self.limits(patience: .seconds(3600)), lookup: Self.lookup) { server in
                let strangers = try (2...4).map { try server.connect(from: "127.0.0.\($0)") }
                #expect(strangers.map { $0.ask() } == [200, 200, 503])
                let members = try (0..<5).map { _ in try server.connect(from: "127.0.1.1") }
                #expect(members.map { $0.ask() } == [200, 200, 200, 200, 503])
                let owners = try (0..<3).map { _ in try server.connect(from: "127.0.0.1") }
                #expect(owners.map { $0.ask() } == [200, 200, 503])
            }
        }

        @Test("a rejected caller gets Retry-After")
        func retryAfter() async throws {
            try await TestServer.run(limits: Self.limits(patience: .seconds(3600)), lookup: Self.lookup) { server in
                let strangers = try (0..<2).map { _ in try server.connect(from: "127.0.0.2") }
                #expect(strangers.map { $0.ask() } == [200, 200])
                #expect(try server.connect(from: "127.0.0.2").receiveAll().contains("\r\nRetry-After: 1\r\n"))
            }
        }

        @Test("the owner replaces the stranger that has waited longest, even if a member has waited longer")
        func ownerGoesFirst() async throws {
            try await TestServer.run(limits: Self.limits(patience: .zero), lookup: Self.lookup) { server in
                let members = try (0..<6).map { try server.connect(from: "127.0.1.\($0 < 3 ? 1 : 2)") }
                let strangers = try (0..<2).map { _ in try server.connect(from: "127.0.0.2") }
                let first = try await ask(members + strangers, server)
                #expect(first == [Int?](repeating: 200, count: 8))
                let owner = try server.connect(from: "127.0.0.1")
                #expect(owner.ask() == 200)
                #expect(try strangers[0].receiveAll() == "")
                #expect(strangers[1].ask() == 200)
                #expect(members.map { $0.ask() } == [Int?](repeating: 200, count: 6))
            }
        }

        @Test("a stranger evicts only strangers, a member only its own connections")
        func displacing() async throws {
            try await TestServer.run(limits: Self.limits(patience: .zero), lookup: Self.lookup) { server in
                let first = try server.connect(from: "127.0.1.1")
                var held = [first]
                var found = try await ask(held, server)
                let sources = [("127.0.1.2", 3), ("127.0.0.2", 5), ("127.0.1.2", 6)]
                for source in sources.flatMap({ Array(repeating: $0.0, count: $0.1) }) {
                    held.append(try server.connect(from: source))
                    found += try await ask(held.suffix(1), server)
                }
                #expect(found == [Int?](repeating: 200, count: 15))
                #expect(first.ask() == 200)
            }
        }

        @Test(
            "an answer starts the wait for the next request, whatever comes with its request; an empty line does not",
            arguments: [(get, get.utf8.count), (get + "GET / HT", 1000), ("\r\n", 1000)])
        func waiting(_ text: String, readAheadBytes: Int) async throws {
            var limits = Self.limits(patience: .zero)
            limits.connections = 2
            // A read that takes as much leaves open whether the kernel has more.
            limits.readAheadBytes = readAheadBytes
            let isRequest = text != "\r\n"
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: limits, threads: 1,
                answering: { _ in .now(Response(status: 200)) })
            try await TestServer.run(server) { server in
                let clients = try (0..<2).map { _ in try server.connect() }
                let found = try await ask(clients + clients, server)
                #expect(found == [200, 200, 200, 200])
                clients[0].send(text)
                if isRequest { #expect(try clients[0].receiveAnswer().status == 200) }
                try #require(await server.server.isAlive(within: .seconds(300)))
                #expect(try server.connect().ask() == 200)
                #expect(try clients[isRequest ? 1 : 0].receiveAll() == "")
            }
        }

        @Test("a connection whose request is being answered is not evicted")
        func busy() async throws {
            var limits = Self.limits(patience: .zero)
            limits.connections = 2
            let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
            try await TestServer.run(limits: limits, lookup: Self.lookup) { request in
                guard request.path == "/long" else { return Response(status: 200) }
                continuation.yield()
                await untilCancelled()
                return Response(status: 200)
            } _: { server in
                let busy = try (0..<2).map { _ in try server.connect(from: "127.0.0.1") }
                busy.forEach { $0.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n") }
                var iterator = begun.makeAsyncIterator()
                for _ in 0..<2 { await iterator.next() }
                #expect(try server.connect(from: "127.0.0.1").ask() == 503)
            }
        }

        @Test("a stranger with all connections gives them up for another one, even busy ones, until both have as many")
        func fairness() async throws {
            var limits = Self.limits(patience: .seconds(3600))
            limits.strangerConnections = 4
            let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
            try await TestServer.run(limits: limits, lookup: Self.lookup) { request in
                guard request.path == "/long" else { return Response(status: 200) }
                continuation.yield()
                await untilCancelled()
                return Response(status: 200)
            } _: { server in
                let greedy = try (0..<4).map { _ in try server.connect(from: "127.0.0.2") }
                greedy.forEach { $0.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n") }
                var iterator = begun.makeAsyncIterator()
                for _ in 0..<4 { await iterator.next() }
                #expect(try server.connect(from: "127.0.0.2").ask() == 503)
                let others = try (0..<3).map { _ in try server.connect(from: "127.0.2.2") }
                #expect(others.map { $0.ask() } == [200, 200, 503])
                #expect(try server.connect(from: "127.0.0.2").ask() == 503)
                #expect(others[..<2].map { $0.ask() } == [200, 200])
                withExtendedLifetime(greedy) {}
            }
        }

        @Test("a connection that has shown who calls leaves the strangers' share, up to a member's")
        func known() async throws {
            let limits = Self.limits(patience: .seconds(3600))
            try await TestServer.run(limits: limits, lookup: Self.lookup) { request in
                if request.path == "/token" { request.noteKnown() }
                return Response(status: 200)
            } _: { server in
                func showToken() throws -> (client: TestClient, status: Int?) {
                    let client = try server.connect(from: "127.0.0.2")
                    client.send("GET /token HTTP/1.1\r\nHost: a\r\n\r\n")
                    return (client, (try? client.receiveAnswer())?.status)
                }
                let known = try (0..<7).map { _ in try showToken() }
                #expect(known.map(\.status) == [200, 200, 200, 200, 200, 200, 503])
                let other = try server.connect(from: "127.0.2.2")
                #expect(other.ask() == 200)
                #expect(known[..<4].map { $0.client.ask() } == [200, 200, 200, 200])
            }
        }

        @Test("a machine has one share, whichever of its addresses it calls from")
        func holders() {
            func holder(_ address: String, user: UInt32? = nil) -> ConnectionHolder {
                let peer = Peer.tcp(
                    remote: Peer.Endpoint(address: address, port: 1), local: Peer.Endpoint(address: address, port: 2))
                return ConnectionHolder(Caller(user: user, access: .stranger), peer)
            }
            for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
                #expect(holder(address) == .thisMachine)
                #expect(holder(address, user: 7) == .user(7))
            }
            #expect(holder("2001:db8:1:2::3") == holder("2001:db8:1:2:ffff:1:1:1"))
            #expect(holder("2001:db8:1:2::3") != holder("2001:db8:1:3::3"))
            #expect(holder("fe80::1%eth0") == holder("fe80::2%eth0"))
            #expect(holder("::ffff:192.0.2.1") == holder("192.0.2.1") && holder("192.0.2.1") != holder("192.0.2.2"))
            #expect(ConnectionHolder(.unknown, .unknown) == .unknown)
        }

        @Test(
            "a caller that sends a request or reads a response too slowly is evicted", .timeLimit(.minutes(5)),
            arguments: [
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n",
                "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
            ])
        func slow(_ request: String) async throws {
            var limits = Self.limits(patience: .milliseconds(50))
            limits.connections = 1
            let large = [UInt8](repeating: 1, count: 32 << 20)
            try await TestServer.run(limits: limits, lookup: Self.lookup) { request in
                Response(status: 200, body: request.path == "/large" ? large : [])
            } _: { server in
                let slow = try server.connect(from: "127.0.0.1")
                slow.send(request)
                while try server.connect(from: "127.0.0.1").ask() != 200 {
                    try Task.checkCancellation()
                    if request.hasPrefix("POST") { slow.send("a") }
                }
                let received = try slow.receiveAll().utf8.count
                #expect(request.hasPrefix("POST") ? received == 0 : received < large.count)
            }
        }

        @Test("ten thousand connections of strangers and of the owner do not lock the owner out")
        func flood() async throws {
            var limits = ServerLimits.quick
            limits.connections = 64
            limits.strangerConnections = 16
            limits.patienceWhenFull = .zero
            try await TestServer.run(limits: limits, lookup: Self.lookup) { server in
                var held: [TestClient] = []
                for round in 0..<100 {
                    for number in 0..<100 {
                        held.append(try server.connect(from: number % 2 == 0 ? "127.0.0.2" : "127.0.0.1"))
                        if held.count > 500 { held.removeFirst(100) }
                    }
                    #expect(try server.connect(from: "127.0.0.1").ask() == 200, "round \(round)")
                }
            }
        }
    }
}
