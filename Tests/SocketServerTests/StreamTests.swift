import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct StreamTests {
        static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

        @Test("a stream is sent in chunks without empty pieces, and the connection stays usable")
        func chunks() async throws {
            try await TestServer.run { _ in
                Response(status: 200, headers: []) { write in
                    for piece in ["abc", "", "0123456789abcdef"] { try? await write([UInt8](piece.utf8)) }
                }
            } _: { server in
                let client = try server.connect()
                for _ in 0..<2 {
                    client.send(Self.get)
                    #expect(try client.receive(through: "\r\n\r\n").contains("Transfer-Encoding: chunked\r\n"))
                    #expect(
                        try client.receive(through: "0\r\n\r\n") == "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n")
                }
            }
        }

        @Test("a stream that fails is cut off before its last chunk, and the connection closes")
        func cut() async throws {
            struct Failed: Error {}
            try await TestServer.run { _ in
                Response(status: 200, headers: []) { write in
                    try await write([UInt8]("abc".utf8))
                    throw Failed()
                }
            } _: { server in
                let client = try server.connect()
                client.send(Self.get)
                #expect(try client.receiveAll().hasSuffix("\r\n\r\n3\r\nabc\r\n"))
            }
        }

        @Test("HEAD of a stream does not start it")
        func head() async throws {
            try await TestServer.run { _ in
                Response(status: 200, headers: []) { write in try? await write([0x61]) }
            } _: { server in
                let client = try server.connect()
                client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(try client.receiveAll().hasSuffix("\r\n\r\n"))
            }
        }

        @Test("a stalled reader blocks the writer, and the stream ends at the write deadline")
        func backPressure() async throws {
            var limits = ServerLimits.quick
            limits.write = .milliseconds(200)
            let (written, report) = AsyncStream.makeStream(of: Int.self)
            let all = 1000
            try await TestServer.run(limits: limits) { _ in
                Response(status: 200, headers: []) { write in
                    var count = 0
                    do {
                        for _ in 0..<all {
                            try await write([UInt8](repeating: 0x61, count: 100_000))
                            count += 1
                        }
                    } catch {}
                    report.yield(count)
                }
            } _: { server in
                let client = try server.connect(receiveBuffer: 4096)
                client.send(Self.get)
                for await count in written {
                    #expect(count < all)
                    break
                }
                #expect(try !client.receiveAll().hasSuffix("0\r\n\r\n"))
            }
        }

        @Test("closing the connection cancels the stream, even one that is waiting for data")
        func cancellation() async throws {
            let (ended, report) = AsyncStream.makeStream(of: Bool.self)
            try await TestServer.run { _ in
                Response(status: 200, headers: []) { write in
                    try? await write([0x61])
                    await untilCancelled()
                    report.yield(Task.isCancelled)
                }
            } _: { server in
                var client: TestClient? = try server.connect()
                client?.send(Self.get)
                _ = try client?.receive(through: "1\r\na\r\n")
                client = nil
                for await isCancelled in ended {
                    #expect(isCancelled)
                    break
                }
            }
        }
    }
}
