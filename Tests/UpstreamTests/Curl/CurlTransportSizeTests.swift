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
        let error = try await outcome(answer, limit: 1000).failure
        #expect(error?.kind == .unacceptable)
        #expect(error?.message.hasSuffix("its body is larger than the 1000 bytes allowed") == true)
    }

    @Test("trailers that libcurl does not take are no lack of memory")
    func trailers() async throws {
        let trailer = "A: " + String(repeating: "x", count: 5000)
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(trailer)\r\n\r\n"
        let error = try await outcome(answer, limit: 1000).failure
        #expect(error?.kind == .ambiguous)
        #expect(error?.message.contains("have more than 4096 bytes") == true, "\(String(describing: error))")
    }

    @Test("a header line that libcurl does not take is not only called a lack of memory")
    func headerLine() async throws {
        let answer = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 110_000)
        let error = try await outcome(answer, limit: 1000).failure
        #expect(error?.kind == .unacceptable)
        #expect(error?.message.contains("header lines has more than 100 KiB") == true, "\(String(describing: error))")
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

    /// Without end, and without one more byte of a body.
    private static let floods: [(start: [UInt8], rest: [UInt8])] = [
        (
            Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;".utf8),
            [UInt8](repeating: UInt8(ascii: "a"), count: 65_535)
        ),
        (
            // Empty blocks of a compressed body (RFC 1951, 3.2.4).
            Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8) + [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3],
            Array([[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: 13_107).joined())
        ),
    ]

    @Test(
        "an answer that goes on for ever beside its body is given up", arguments: floods.indices, [1 << 20, .max >> 1])
    func flood(_ index: Int, limit: Int) async throws {
        let flood = Self.floods[index]
        let server = try ScriptedServer([.receive, .send(flood.start), .flood(flood.rest)])
        let transport = try CurlTransport(userAgent: "test")
        let request = HTTPRequest(url: server.url, deadline: .seconds(86_400), maximumBody: limit)
        await #expect {
            try await transport.send(request)
        } throws: {
            guard case TransportError.unacceptable(let message) = $0 else { return false }
            return message.contains("far more came")
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
