import Glibc
import TestSupport
import Testing

/// Sends the built daemon what no well-behaved client sends: it is refused and never answered twice.
@Suite("Hostile requests", .serialized)
struct HostileRequestTests {
    @Test("malformed and smuggling requests get one 4xx and a closed connection")
    func refused() async throws {
        try await OfflineDaemon.run { daemon throws in
            for request in HostileRequest.lines + HostileRequest.fields + HostileRequest.bodies {
                let statuses = try Self.statuses(daemon, request.bytes + Array(HostileRequest.smuggled.utf8))
                // A request with an unknown method or another host is well-formed.
                let isWellFormed = [
                    "a lower-case method", "an unknown method", "TRACE", "two slashes", "another Host",
                    "an absolute target elsewhere",
                ].contains(request.testDescription)
                let first = statuses.first ?? 400
                #expect((400..<500).contains(first) || first == 505, "\(request.testDescription): \(statuses)")
                #expect(statuses.count == (isWellFormed ? 2 : min(1, statuses.count)), "\(request.testDescription)")
            }
            #expect(try daemon.status(HostileRequest.smuggled) == 200)
        }
    }

    @Test("pipelined requests are answered in order, up to the first that is malformed")
    func pipelined() async throws {
        try await OfflineDaemon.run { daemon throws in
            let good = HostileRequest.smuggled
            let missing = good.replacing("/v1/status", with: "/v1/nothing")
            let bad = "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"
            #expect(
                try Self.statuses(daemon, Array((good + missing + good + bad + good).utf8)) == [200, 404, 200, 400])
            let many = try Self.statuses(daemon, Array(String(repeating: good, count: 500).utf8))
            #expect(many == [Int](repeating: 200, count: 500))
        }
    }

    @Test("chunk extensions and trailers are ignored")
    func chunks() async throws {
        try await OfflineDaemon.run { daemon throws in
            let head = """
                POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n
                """
            let body = "2;a=\"b\";c\r\n{}\r\n0\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n"
            let statuses = try Self.statuses(daemon, Array((head + body + HostileRequest.smuggled).utf8))
            #expect(statuses.count == 2 && statuses.last == 200)
        }
    }

    @Test("randomly garbled requests never get 5xx, and the daemon keeps running")
    func fuzz() async throws {
        var random = SeededRandom()
        let samples =
            [HostileRequest.smuggled]
            + (HostileRequest.lines + HostileRequest.fields + HostileRequest.bodies)
            .map { String(decoding: $0.bytes.prefix(2000), as: UTF8.self) }
        try await OfflineDaemon.run { daemon throws in
            for _ in 0..<1500 {
                var bytes = Array((samples.randomElement(using: &random) ?? "").utf8)
                for _ in 0..<Int.random(in: 1...4, using: &random) { Self.garble(&bytes, using: &random) }
                let statuses = try Self.statuses(daemon, bytes)
                let isFine = statuses.allSatisfy { $0 < 500 || $0 == 501 || $0 == 505 }
                #expect(
                    isFine,
                    "\(TestRun.note()): \(statuses) for \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
            #expect(try daemon.status(HostileRequest.smuggled) == 200)
        }
    }

    private static func garble(_ bytes: inout [UInt8], using random: inout SeededRandom) {
        let position = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.insert(UInt8.random(in: 0...255, using: &random), at: position)
        case 1 where position < bytes.count: bytes.remove(at: position)
        case 2 where position < bytes.count:
            bytes[position] = [0, 9, 10, 13, 32, 58, 255].randomElement(using: &random) ?? 0
        case 3: bytes.insert(contentsOf: "\r\n\r\n".utf8, at: position)
        default:
            let end = Int.random(in: position...bytes.count, using: &random)
            bytes.insert(contentsOf: bytes[position..<end].prefix(200), at: position)
        }
    }

    /// Sends bytes and returns the statuses of all answers until the daemon closes.
    private static func statuses(_ daemon: OfflineDaemon, _ bytes: [UInt8]) throws -> [Int] {
        let connection = try daemon.connect()
        connection.send(bytes)
        connection.finishSending()
        return try connection.receiveAll().matches(of: #/HTTP/1\.1 ([0-9]{3}) /#).compactMap { Int($0.1) }
    }
}
