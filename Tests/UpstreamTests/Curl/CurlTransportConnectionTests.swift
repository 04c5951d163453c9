import Foundation
import Glibc
import Synchronization
import Testing

@testable import Upstream

@Suite("libcurl transport: connections and shutdown", .timeLimit(.minutes(10)))
struct CurlTransportConnectionTests {
    private static let ok = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let transport: CurlTransport

    init() throws {
        transport = try CurlTransport(userAgent: "test")
    }

    @Test(
        "nothing is connected to this program's own API, by any of its names",
        arguments: ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"])
    func ownAPI(_ host: String) async throws {
        let server = try ScriptedServer([.receive, Self.ok])
        let careful = try CurlTransport(userAgent: "test", ownAddresses: [("127.0.0.1", server.port)])
        let error = await #expect(throws: TransportError.self) {
            try await careful.send(HTTPRequest(url: "http://\(host):\(server.port)"))
        }
        #expect(error?.kind == .unreachable)
        #expect(server.acceptedConnections == 0)
        let other = try ScriptedServer([.receive, Self.ok])
        #expect(try await careful.send(HTTPRequest(url: other.url)).status == 200)
    }

    @Test("a server that is refused after connecting receives nothing, and one that is not is asked as usual")
    func refusedServer() async throws {
        let server = try ScriptedServer([.receive, Self.ok], [.receive, Self.ok])
        let strict = try CurlTransport(userAgent: "test", refusal: { _ in "a stranger listens there" })
        let error = await #expect(throws: TransportError.self) { try await strict.send(HTTPRequest(url: server.url)) }
        #expect(error?.kind == .unreachable && error?.message.contains("a stranger listens there") == true)
        let lenient = try CurlTransport(userAgent: "test", refusal: { $0 >= 0 ? nil : "" })
        #expect(try await lenient.send(HTTPRequest(url: server.url)).body == Array("ok".utf8))
        for await request in server.requests {
            #expect(request.hasPrefix("GET / HTTP/1.1\r\n"))
            break
        }
    }

    /// Sends a request during whose answer libcurl stays in one call and reads what comes until its connection is broken, as in
    /// a flood of TLS. Returns once it does.
    private func stuckRequest() async throws -> (transport: CurlTransport, task: Task<HTTPResponse, any Error>) {
        let connection = Atomic<Int32>(-1)
        let note: @Sendable (Int32) -> String? = { descriptor in
            _ = connection.compareExchange(expected: -1, desired: descriptor, ordering: .relaxed)
            return nil
        }
        let impatient = try CurlTransport(userAgent: "test", refusal: note, patience: .milliseconds(200))
        let (bodies, body) = AsyncStream.makeStream(of: Void.self)
        let flood = try ScriptedServer([
            .receive, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart"), .trickle(UInt8(ascii: "x")),
        ])
        var request = HTTPRequest(url: flood.url)
        request.sink = BodySink { _ in
            body.yield()
            var wait = pollfd(fd: connection.load(ordering: .relaxed), events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            while poll(&wait, 1, -1) > 0, recv(wait.fd, &byte, 1, 0) > 0 {}
            return true
        }
        let sent = request
        let task = Task<HTTPResponse, any Error> {
            defer { withExtendedLifetime(flood) {} }
            return try await impatient.send(sent)
        }
        for await _ in bodies { break }
        return (impatient, task)
    }

    @Test("a connection is broken if libcurl stays in one call that reads it while another request waits")
    func stuck() async throws {
        let (impatient, broken) = try await stuckRequest()
        let server = try ScriptedServer([.receive, Self.ok])
        #expect(try await impatient.send(HTTPRequest(url: server.url)).status == 200)
        await #expect(throws: TransportError.self) { try await broken.value }
    }

    @Test("a connection is broken if libcurl stays in one call that reads it, also when nothing else waits")
    func stuckAlone() async throws {
        let (impatient, broken) = try await stuckRequest()
        await #expect(throws: TransportError.self) { try await broken.value }
        withExtendedLifetime(impatient) {}
    }

    @Test("connections are not broken while a body is stored slowly")
    func slowDisk() async throws {
        let impatient = try CurlTransport(userAgent: "test", patience: .milliseconds(200))
        let gate = ScriptedServer.Gate()
        let slow = try ScriptedServer([.receive, .pass(gate), Self.ok])
        let change = Task { try await impatient.send(HTTPRequest(method: "POST", url: slow.url)) }
        #expect(await slow.nextRequest() != nil)
        let server = try ScriptedServer([.receive, Self.ok])
        var request = HTTPRequest(url: server.url)
        request.sink = BodySink { _ in
            usleep(1_000_000)
            return true
        }
        #expect(try await impatient.send(request).status == 200)
        gate.open()
        #expect(try await change.value.status == 200)
    }

    @Test("connections are not broken while libcurl waits for the server")
    func slowServer() async throws {
        let impatient = try CurlTransport(userAgent: "test", patience: .milliseconds(200))
        let gate = ScriptedServer.Gate()
        let server = try ScriptedServer([.receive, .pass(gate), Self.ok])
        let slow = Task { try await impatient.send(HTTPRequest(url: server.url)) }
        try await Task.sleep(for: .seconds(1))
        gate.open()
        #expect(try await slow.value.status == 200)
    }

    @Test("a connection is reused")
    func keepAlive() async throws {
        let server = try ScriptedServer([.receive, Self.ok, .receive, Self.ok, .receive, Self.ok])
        for _ in 1...3 { _ = try await transport.send(HTTPRequest(url: server.url)) }
        #expect(server.acceptedConnections == 1)
    }

    @Test(
        "a reused connection that was closed while idle is replaced transparently", arguments: ["GET", "POST", "PATCH"])
    func droppedIdle(_ method: String) async throws {
        let dropped = ScriptedServer.Gate()
        let server = try ScriptedServer([.receive, Self.ok, .finish, .open(dropped)], [.receive, Self.ok])
        let first = try await transport.send(HTTPRequest(method: method, url: server.url))
        dropped.pass()
        let second = try await transport.send(HTTPRequest(method: method, url: server.url))
        #expect(first.status == 200 && second.status == 200)
        #expect(server.acceptedConnections == 2)
    }

    /// After the bytes, the server leaves, or waits.
    @Test(
        "a connection on which more came than its answer is not used again: another answer, or TLS's notice of the end",
        arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "\u{15}"], [[ScriptedServer.Step.finish], []])
    func unread(_ bytes: String, _ end: [ScriptedServer.Step]) async throws {
        let (isAnswered, hasMore) = (ScriptedServer.Gate(), ScriptedServer.Gate())
        let first: [ScriptedServer.Step] = [.receive, Self.ok, .pass(isAnswered), .send(bytes)]
        let left: [ScriptedServer.Step] = [.open(hasMore), .awaitClientLeaving]
        let server = try ScriptedServer(connections: [first + end + left, [.receive, Self.ok, .receive, Self.ok]])
        _ = try await transport.send(HTTPRequest(method: "POST", url: server.url))
        isAnswered.open()
        hasMore.pass()
        for _ in 1...2 {
            let answer = try await transport.send(HTTPRequest(method: "POST", url: server.url))
            #expect(answer.body == Array("ok".utf8))
        }
        #expect(server.acceptedConnections == 2)
    }

    @Test("a safe request lost on a reused connection is sent again")
    func swallowedGet() async throws {
        let server = try ScriptedServer([.receive, Self.ok, .receive, .reset], [.receive, Self.ok])
        for _ in 1...2 { _ = try await transport.send(HTTPRequest(url: server.url)) }
        #expect(server.acceptedConnections == 2)
    }

    @Test("a safe request that is counted is not sent again by itself")
    func countedGet() async throws {
        let server = try ScriptedServer([.receive, Self.ok, .receive, .reset], [.receive, Self.ok])
        var request = HTTPRequest(url: server.url)
        request.isSentOnce = true
        _ = try await transport.send(request)
        #expect(try await transport.failure(of: request).kind == .dropped)
    }

    @Test(
        "a change lost on a reused connection is never sent twice", arguments: ["POST", "PATCH", "PUT", "DELETE"])
    func swallowedChange(_ method: String) async throws {
        let server = try ScriptedServer([.receive, Self.ok, .receive], [.receive, Self.ok])
        let request = HTTPRequest(method: method, url: server.url, body: Array("{}".utf8))
        _ = try await transport.send(request)
        #expect(try await transport.failure(of: request).kind == .ambiguous)
    }

    // MARK: After a network change

    @Test("no older connection is reused")
    func keptBeforeChange() async throws {
        let server = try ScriptedServer(
            [.receive, Self.ok, .receive, Self.ok], [.receive, Self.ok, .receive, Self.ok])
        _ = try await transport.send(HTTPRequest(url: server.url))
        transport.networkChanged()
        _ = try await transport.send(HTTPRequest(url: server.url))
        #expect(server.acceptedConnections == 2)
    }

    @Test("a request that was not sent yet restarts")
    func connecting() async throws {
        let seen = ScriptedServer.Gate()
        let again = ScriptedServer.Gate()
        // Neither speaks TLS, so nothing is ever sent.
        let server = try ScriptedServer(
            [.open(seen), .awaitClientLeaving], [.open(again), .awaitClientLeaving])
        let transport = transport
        let flying = Task {
            try await transport.failure(of: HTTPRequest(url: server.url.replacing("http:", with: "https:")))
        }
        await waiting { seen.pass() }
        transport.networkChanged()
        await waiting { again.pass() }
        flying.cancel()
        #expect(try await flying.value == .cancelled)
    }

    @Test("a request sent from an address that is gone fails, and its connection is closed")
    func addressGone() async throws {
        let reset = ScriptedServer.Gate()
        let server = try ScriptedServer([.receive, .awaitClientReset(reset)])
        let transport = try CurlTransport(userAgent: "test", localAddresses: { ["192.0.2.1"] })
        let flying = Task { try await transport.failure(of: HTTPRequest(method: "POST", url: server.url)) }
        _ = await server.nextRequest()
        transport.networkChanged()
        #expect(try await flying.value.kind == .ambiguous)
        await waiting { reset.pass() }
    }

    @Test("nothing is sent over a link that is down, and the next request checks again")
    func linkDown() async throws {
        let server = try ScriptedServer([.receive, Self.ok])
        let isDown = Mutex(true)
        let transport = try CurlTransport(userAgent: "test", isLinkDown: { _ in isDown.withLock { $0 } })
        let failure = try await transport.failure(of: HTTPRequest(method: "POST", url: server.url))
        #expect(failure.kind == .unreachable)
        #expect(failure.message.contains("link"))
        #expect(server.acceptedConnections == 0)
        isDown.withLock { $0 = false }
        #expect(try await transport.send(HTTPRequest(method: "POST", url: server.url)).status == 200)
    }

    @Test("a request sent from an address that still exists continues")
    func addressThere() async throws {
        let changed = ScriptedServer.Gate()
        let server = try ScriptedServer([.receive, .pass(changed), Self.ok])
        let transport = transport
        let flying = Task { try await transport.send(HTTPRequest(url: server.url)).status }
        _ = await server.nextRequest()
        transport.networkChanged()
        changed.open()
        #expect(try await flying.value == 200)
    }

    /// Waits on a thread that may block.
    private func waiting(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    @Test("requests run concurrently")
    func parallel() async throws {
        let count = 20
        let gates = (0..<count).map { _ in ScriptedServer.Gate() }
        // Each connection gets its response only when all have sent their request.
        let script: [ScriptedServer.Step] = gates.map { .pass($0) }
        let server = try ScriptedServer(
            connections: gates.map { [.receive, .open($0)] + script + [Self.ok] })
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await transport.send(HTTPRequest(url: server.url)).status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.acceptedConnections == count)
    }

    @Test("cancelling the task ends only its exchange")
    func cancellation() async throws {
        let left = ScriptedServer.Gate()
        let server = try ScriptedServer(
            [.receive, .awaitClientLeaving, .open(left)], [.receive, .pass(left), Self.ok])
        let transport = transport
        let doomed = Task { try await transport.failure(of: HTTPRequest(url: server.url)) }
        _ = await server.nextRequest()
        async let other = transport.send(HTTPRequest(url: server.url))
        _ = await server.nextRequest()
        doomed.cancel()
        #expect(try await doomed.value == .cancelled)
        #expect(try await other.status == 200)
    }

    @Test("a task already cancelled sends nothing")
    func cancelledBefore() async throws {
        let transport = transport
        let gate = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer([.awaitClientLeaving])
        let task = Task {
            for await _ in gate.stream {}
            return try await transport.failure(of: HTTPRequest(url: server.url))
        }
        task.cancel()
        gate.continuation.finish()
        #expect(try await task.value == .cancelled)
    }

    @Test("shutdown fails requests in flight and all later ones, and is idempotent")
    func shutdown() async throws {
        let server = try ScriptedServer([.receive, .awaitClientLeaving])
        let transport = transport
        let flying = Task { try await transport.failure(of: HTTPRequest(url: server.url)) }
        _ = await server.nextRequest()
        transport.shutdown()
        #expect(try await flying.value == .cancelled)
        transport.shutdown()
        #expect(try await transport.failure(of: HTTPRequest(url: server.url)) == .cancelled)
    }

    @Test("shutdown ends the thread when other commands wait as well")
    func shutdownAmongCommands() async throws {
        for _ in 1...100 {
            let transport = try CurlTransport(userAgent: "test")
            // Afterwards the thread sleeps until it is woken.
            _ = try await transport.failure(of: HTTPRequest(url: "http://127.0.0.1:1/"))
            transport.networkChanged()
            transport.shutdown()
        }
    }

    @Test("the last reference closes idle connections")
    func lastReference() async throws {
        let left = ScriptedServer.Gate()
        let server = try ScriptedServer([.receive, Self.ok, .awaitClientLeaving, .open(left)])
        do {
            let transport = try CurlTransport(userAgent: "test")
            _ = try await transport.send(HTTPRequest(url: server.url))
        }
        left.pass()
    }
}
