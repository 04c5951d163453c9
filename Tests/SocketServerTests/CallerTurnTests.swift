import Dispatch
import Glibc
import SocketServer
import Synchronization
import TestSupport
import Testing

extension SocketServerTests {
    /// Callers take turns, however many connections each of them has.
    @Suite struct CallerTurnTests {
        private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

        /// The user is the last part of the caller's address.
        private static let user: Caller.Lookup = { _, peer in
            guard case .tcp(let remote, _) = peer else { return .unknown }
            return Caller(user: remote.address.split(separator: ".").last.flatMap { UInt32($0) }, access: .member)
        }

        private final class Count: Sendable {
            private let count = Atomic(0)
            var value: Int { count.load(ordering: .relaxed) }
            func add(_ number: Int) { count.add(number, ordering: .relaxed) }
        }

        @Test(arguments: [false, true])
        func `one request of each of many connections lets another caller have its turn`(isLater: Bool) async throws {
            let (asked, askedBefore, mayGoOn) = (Count(), Count(), DispatchSemaphore(value: 0))
            let server = SocketServer(
                listeners: [.tcp(host: "127.0.0.1", port: 0)], limits: .quick, threads: 1,
                answering: { request in
                    let answer: @Sendable () -> Response = {
                        switch request.path {
                        case "/crowd":
                            if asked.value == 0 { mayGoOn.wait() }
                            // Longer than a turn of the loop.
                            usleep(3000)
                            asked.add(1)
                        case "/other": askedBefore.add(asked.value)
                        default: break
                        }
                        return Response(status: 200, body: [])
                    }
                    return isLater ? .later { answer() } : .now(answer())
                }, lookup: Self.user)
            try await TestServer.run(server) { server in
                let crowd = try (1...60).map { _ in try server.connect(from: "127.0.0.5") }
                let other = try server.connect(from: "127.0.0.6")
                for client in crowd + [other] {
                    client.send(Self.get("/first"))
                    _ = try client.receiveAnswer()
                }
                for client in crowd { client.send(Self.get("/crowd")) }
                other.send(Self.get("/other"))
                mayGoOn.signal()
                #expect(try other.receiveAnswer().status == 200)
                #expect(askedBefore.value < 20)
                for client in crowd { #expect(try client.receiveAnswer().status == 200) }
            }
        }
    }
}
