import Glibc
import TestSupport
import Testing

@Suite("Stopping", .serialized)
struct StopTests {
    @Test("it stops within ten seconds despite stalled readers, open event streams, partial requests and waiting calls")
    func stop() async throws {
        try await OfflineDaemon.run { daemon throws in
            // More answers than the sockets' buffers hold, none of them read.
            let stalled = try (0..<3).map { _ in try RawConnection(port: daemon.port, receiveBuffer: 4096) }
            let request = "GET /page/page.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for one in stalled { one.send(String(repeating: request, count: 8000)) }
            let halves = [
                "", "GET /", "GET / HTTP/1.1\r\nHost: localhost\r\n",
                "POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
                "GET /v1/changes?since=0&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "POST /v1/sync?wait=true HTTP/1.1\r\nHost: localhost\r\n\r\n",
            ]
            let open = try halves.map { half in
                let connection = try daemon.connect()
                connection.send(half)
                return connection
            }
            let streams = try (0..<20).map { _ in
                let stream = try daemon.connect()
                stream.send("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try stream.receive(through: "retry: ").contains("200 OK"))
                return stream
            }
            #expect(try daemon.status(HostileRequest.smuggled) == 200)
            let start = ContinuousClock.now
            await daemon.program.signal(SIGTERM)
            #expect(await daemon.program.finish().status == 0)
            #expect(ContinuousClock.now - start < .seconds(10))
            withExtendedLifetime((stalled, open, streams)) {}
        }
    }
}
