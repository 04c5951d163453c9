import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct EndingTests {
        @Test("an unanswered request closes the connection without sending a byte")
        func unanswered() async throws {
            try await TestServer.run { _ in
                var response = Response(status: 200, body: [0x61])
                response.ending = .unanswered
                return response
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAll() == "")
            }
        }

        @Test("a cut-off response announces its whole length, sends part of it and closes the connection")
        func cutOff() async throws {
            try await TestServer.run { _ in
                var response = Response(status: 200, body: [UInt8]("half".utf8))
                response.ending = .cutOff(length: 8)
                return response
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.receiveAll()
                #expect(answer.contains("Content-Length: 8\r\n"))
                #expect(answer.hasSuffix("\r\n\r\nhalf"))
            }
        }
    }
}
