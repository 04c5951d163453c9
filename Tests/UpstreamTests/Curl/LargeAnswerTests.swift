import TestSupport
import Testing

@testable import Upstream

@Suite("Large answers share memory", .timeLimit(.minutes(10)))
struct LargeAnswerTests {
    private static let size = 3 << 20

    private static func answer(chunked: Bool = false, deflated: Bool = false) -> [UInt8] {
        let body = deflated ? Self.deflated : [UInt8](repeating: UInt8(ascii: "x"), count: size)
        let head = "HTTP/1.1 200 OK\r\n\(deflated ? "Content-Encoding: deflate\r\n" : "")"
        guard chunked else { return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body }
        let start = "\(head)Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n"
        return Array(start.utf8) + body + Array("\r\n0\r\n\r\n".utf8)
    }

    /// The same body in stored blocks (RFC 1950, RFC 1951).
    private static var deflated: [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        var left = size
        while left > 0 {
            let length = UInt16(min(left, 60_000))
            left -= Int(length)
            let sizes = [length, ~length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            bytes += [left == 0 ? 1 : 0] + sizes + [UInt8](repeating: UInt8(ascii: "x"), count: Int(length))
        }
        // Adler-32 of one byte repeated.
        let letter = Int(UInt8(ascii: "x"))
        let low = (1 + size * letter) % 65_521
        let high = (size + letter * (size * (size + 1) / 2 % 65_521)) % 65_521
        return bytes + [high >> 8, high & 0xFF, low >> 8, low & 0xFF].map(UInt8.init)
    }

    private static func server(_ answer: [UInt8]) throws -> ScriptedServer {
        try ScriptedServer([.receive, .send(answer), .awaitClientLeaving])
    }

    @Test(
        "an answer waits until the one before it is released, in every framing",
        arguments: [(false, false), (true, false), (false, true), (true, true)])
    func waits(chunked: Bool, deflated: Bool) async throws {
        let servers = try (0..<3).map { _ in try Self.server(Self.answer(chunked: chunked, deflated: deflated)) }
        let transport = try CurlTransport(userAgent: "test", answerLimit: 4 << 20)
        var first: HTTPResponse? = try await transport.send(HTTPRequest(url: servers[0].url))
        #expect(first?.share != nil)
        let arrived = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers.dropFirst() {
                group.addTask {
                    let response = try await transport.send(HTTPRequest(url: server.url))
                    arrived.next()
                    #expect(response.body.count == Self.size)
                }
            }
            // A small answer does not wait, so both large ones had their time by then.
            for _ in 0..<5 {
                let small = try ScriptedServer([.receive, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")])
                #expect(try await transport.send(HTTPRequest(url: small.url)).share == nil)
            }
            #expect(arrived.count == 0)
            first = nil
            try await group.waitForAll()
        }
        #expect(arrived.count == 2)
    }

    @Test("a cancelled answer that waits, and one that holds memory, let the next one through")
    func cancelled() async throws {
        let transport = try CurlTransport(userAgent: "test", answerLimit: 4 << 20)
        let servers = try (0..<3).map { _ in try Self.server(Self.answer()) }
        let holder = try await transport.send(HTTPRequest(url: servers[0].url))
        let waiting = Task { try await transport.send(HTTPRequest(url: servers[1].url)) }
        _ = await servers[1].nextRequest()
        let next = Task { try await transport.send(HTTPRequest(url: servers[2].url)).body.count }
        waiting.cancel()
        #expect(await waiting.result.isCancelled)
        holder.share?.release()
        #expect(try await next.value == Self.size)
    }

    @Test("an answer that needs more than there is comes through alone")
    func alone() async throws {
        let transport = try CurlTransport(userAgent: "test", answerLimit: 1 << 20)
        for _ in 0..<2 {
            let server = try Self.server(Self.answer())
            #expect(try await transport.send(HTTPRequest(url: server.url)).body.count == Self.size)
        }
    }

    @Test("an answer that waits longer than its deadline fails, and the next one gets its place")
    func late() async throws {
        let transport = try CurlTransport(userAgent: "test", answerLimit: 4 << 20)
        let servers = try (0..<3).map { _ in try Self.server(Self.answer()) }
        let holder = try await transport.send(HTTPRequest(url: servers[0].url))
        let late = HTTPRequest(url: servers[1].url, deadline: .milliseconds(500))
        await #expect(throws: TransportError.self) { try await transport.send(late) }
        holder.share?.release()
        #expect(try await transport.send(HTTPRequest(url: servers[2].url)).body.count == Self.size)
    }
}

extension Result<HTTPResponse, any Error> {
    fileprivate var isCancelled: Bool {
        guard case .failure(let error) = self, let error = error as? TransportError else { return false }
        return error == .cancelled
    }
}
