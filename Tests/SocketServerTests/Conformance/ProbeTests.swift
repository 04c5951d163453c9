import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite("HTTP/1.1 by the letter") struct ProbeTests {
        @Test("request lines", arguments: Probe.requestLines + Probe.targets)
        func requestLine(probe: Probe) async throws { try await check(probe) }

        @Test("Host and other fields", arguments: Probe.hosts + Probe.fields)
        func headerFields(probe: Probe) async throws { try await check(probe) }

        @Test("the length of a body", arguments: Probe.lengths + Probe.codings)
        func body(probe: Probe) async throws { try await check(probe) }

        @Test("chunked bodies", arguments: Probe.chunks + Probe.trailers)
        func chunkedBody(probe: Probe) async throws { try await check(probe) }

        @Test("smuggled requests", arguments: Probe.smuggling)
        func smuggled(probe: Probe) async throws { try await check(probe) }

        @Test("connections and limits", arguments: Probe.connections + Probe.limits)
        func connection(probe: Probe) async throws { try await check(probe) }

        private func check(_ probe: Probe) async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send(probe.input)
                client.finishSending()
                let answers = try client.receiveAll()
                #expect(statuses(answers) == probe.statuses)
                let isRefused = (probe.statuses.last ?? 200) >= 400
                #expect(answers.contains("application/problem+json") == isRefused)
                #expect(answers.contains("Connection: close") == (isRefused || probe.statuses == [200]))
                if let body = probe.answer {
                    let end = "\r\n\r\n\(body)"
                    #expect(answers.contains(end + "HTTP/1.1 ") || answers.hasSuffix(end), "\(answers)")
                }
            }
        }
    }
}
