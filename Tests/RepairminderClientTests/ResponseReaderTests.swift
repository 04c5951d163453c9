import Testing

@testable import RepairminderClient

/// Answers of HTTP/1.1 as they come over a connection, in pieces of any size.
@Suite("Answers that the client reads")
struct ResponseReaderTests {
    /// Reads an answer that comes in pieces of `size` bytes, up to the end of the connection.
    private func read(
        _ text: String, size: Int = .max, isHead: Bool = false
    ) throws(ClientError) -> (head: ResponseReader.Head, body: String) {
        var rest = Array(text.utf8)[...]
        let source = { () throws(ClientError) in
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
        var reader = ResponseReader(isHead: isHead)
        let head = try reader.readHead(source)
        var body: [UInt8] = []
        while let piece = try reader.next(source) { body += piece }
        return (head, String(decoding: body, as: UTF8.self))
    }

    @Test("every framing is read, however the bytes come", arguments: [1, 2, 3, 7, Int.max])
    func framings(size: Int) throws {
        let length = try read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag:  \"t\" \r\n\r\nhello", size: size)
        #expect(length.body == "hello")
        #expect(length.head.headers.first(named: "etag") == "\"t\"")
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=1\r\nlo\r\n0\r\n\r\n"
        #expect(try read(chunked, size: size).body == "hello")
        #expect(try read("HTTP/1.1 200 OK\r\n\r\nhello", size: size).body == "hello")
        #expect(try read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", size: size).head.status == 204)
        #expect(try read("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", size: size).body == "")
        #expect(try read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", size: size, isHead: true).body == "")
    }

    @Test(
        "an answer that breaks off is an interruption, never a short answer",
        arguments: [
            "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        ])
    func breaksOff(text: String) {
        #expect { try read(text) } throws: { error in
            if case .interrupted = error as? ClientError { true } else { false }
        }
    }

    @Test(
        "what is not HTTP is not taken for an answer",
        arguments: [
            "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
            String(repeating: "x", count: 100_000),
        ])
    func isNotHTTP(text: String) {
        #expect { try read(text) } throws: { error in
            if case .unexpected = error as? ClientError { true } else { false }
        }
    }

    @Test("a daemon that is not there is unreachable, and nothing was sent")
    func unreachable() async throws {
        for address in [DaemonAddress.unix("/nowhere/api.sock"), .unix(String(repeating: "x", count: 200))] {
            let client = RepairminderClient(address, retry: .none)
            await #expect {
                _ = try await client.daemon.status()
            } throws: { error in
                if case .unreachable = error as? ClientError { true } else { false }
            }
        }
    }

    @Test("addresses are read as people write them")
    func addresses() {
        #expect(DaemonAddress("/run/api.sock") == .unix("/run/api.sock"))
        #expect(DaemonAddress("localhost:7679") == .tcp(host: "localhost", port: 7679))
        #expect(DaemonAddress("[::1]:7679") == .tcp(host: "::1", port: 7679))
        #expect(DaemonAddress("[::1]:7679")?.description == "[::1]:7679")
        for text in ["", "localhost", ":7679", "::1:7679", "localhost:99999"] { #expect(DaemonAddress(text) == nil) }
    }
}
