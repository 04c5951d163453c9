import Testing

@testable import Upstream

@Suite("libcurl transport: body limit", .timeLimit(.minutes(10)))
struct CurlTransportSizeTests {
    private func outcome(_ answer: String, limit: Int) async throws -> Result<Int, TransportError> {
        let server = try ScriptedServer([.receive, .send(answer)])
        let transport = try CurlTransport(userAgent: "test")
        do throws(TransportError) {
            return .success(try await transport.send(HTTPRequest(url: server.url, maximumBody: limit)).body.count)
        } catch {
            return .failure(error)
        }
    }

    private static func framed(_ count: Int) -> [String] {
        let body = String(repeating: "x", count: count)
        return [
            "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n" + body,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body,
        ]
    }

    @Test("a body as large as the limit is accepted in every framing", arguments: framed(1000))
    func atLimit(_ answer: String) async throws {
        #expect(try await outcome(answer, limit: 1000) == .success(1000))
    }

    @Test("a body one byte larger is rejected in every framing", arguments: framed(1001))
    func aboveLimit(_ answer: String) async throws {
        guard case .failure(.unacceptable) = try await outcome(answer, limit: 1000) else {
            Issue.record("accepted, or rejected with another error")
            return
        }
    }

    @Test("a limit of 0 accepts only an empty body")
    func noBody() async throws {
        #expect(try await outcome("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", limit: 0) == .success(0))
        guard
            case .failure(.unacceptable) = try await outcome("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", limit: 0)
        else {
            Issue.record("accepted, or rejected with another error")
            return
        }
    }

    @Test("the buffer never exceeds the limit, whatever arrives or is announced", arguments: [nil, 10, 1 << 40])
    func capacity(_ announced: Int?) {
        let limit = 100_000
        var collector = ResponseCollector(maximumBody: limit)
        let part = [UInt8](repeating: 0, count: 999)
        var isTaken = true
        while isTaken {
            isTaken = part.withUnsafeBytes { collector.takeBody($0, announced: announced) }
            // An allocator rounds up, at most to its next size class.
            #expect(collector.body.capacity <= limit + 4096)
        }
        #expect(collector.body.count == 999 * (limit / 999))
        #expect(collector.refusal != nil)
    }
}
