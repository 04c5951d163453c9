import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct OldVersionTests {
        @Test("an HTTP/1.0 request is answered, and the connection closes")
        func closes() async throws {
            try await TestServer.run { server in
                for fields in ["", "Host: a\r\n", "Host: a\r\nConnection: keep-alive\r\n"] {
                    let client = try server.connect()
                    client.send("GET /a HTTP/1.0\r\n\(fields)\r\n")
                    let answer = try client.receiveAll()
                    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("GET /a "))
                    #expect(answer.contains("Connection: close\r\n") && answer.contains("Content-Length: 7\r\n"))
                }
            }
        }

        @Test("a body of HTTP/1.0 has a length, and 100-continue is never sent to it")
        func body() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("POST /a HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc")
                let answer = try client.receiveAll()
                #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("POST /a abc"))
            }
        }

        @Test("a stream to HTTP/1.0 has no chunks and ends with the connection")
        func stream() async throws {
            try await TestServer.run { _ in
                Response(status: 200, headers: []) { write in
                    for piece in ["abc", "", "def"] { try? await write([UInt8](piece.utf8)) }
                }
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
                let answer = try client.receiveAll()
                #expect(answer.hasSuffix("\r\n\r\nabcdef") && !answer.contains("Transfer-Encoding"))
            }
        }

        @Test("what the server refuses by itself has Cache-Control and Vary too")
        func refusal() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("GET / HTTP/9.9\r\n\r\n")
                let answer = try client.receiveAll()
                #expect(answer.contains("Cache-Control: no-store\r\n") && answer.contains("Vary: "))
            }
        }
    }
}
