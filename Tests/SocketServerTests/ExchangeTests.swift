import Dispatch
import SocketServer
import TestSupport
import Testing

extension SocketServerTests {
    @Suite struct ExchangeTests {
        @Test("one connection serves many requests")
        func keepAlive() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                for number in 1...20 {
                    client.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try client.receiveAnswer().body == "GET /\(number) ")
                }
            }
        }

        @Test("pipelined requests beyond the read-ahead are all answered in order")
        func pipelining() async throws {
            var limits = ServerLimits.quick
            limits.readAheadBytes = 256
            try await TestServer.run(limits: limits) { request in
                if request.path.hasSuffix("0") { await Task.yield() }
                return await TestServer.describe(request)
            } _: { server in
                let client = try server.connect()
                client.send((1...200).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
                for number in 1...200 { #expect(try client.receiveAnswer().body == "GET /\(number) ") }
            }
        }

        @Test("a handler can have the connection closed after its answer")
        func closing() async throws {
            try await TestServer.run(handler: { _ in
                var response = Response(status: 401)
                response.closes = true
                return response
            }) { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let text = try client.receiveAll()
                #expect(statuses(text) == [401] && text.contains("\r\nConnection: close\r\n"))
            }
        }

        @Test("HEAD returns the length without a body, and the connection stays usable")
        func head() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAnswer(hasBody: false).head.contains("Content-Length: 8\r\n"))
                client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAnswer().body == "GET /b ")
            }
        }

        @Test("a caller that expects 100-continue gets it once its head is accepted")
        func expectation() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
                #expect(try client.receiveAnswer().status == 100)
                client.send("abc")
                #expect(try client.receiveAnswer().body == "POST /a abc")
            }
        }

        @Test("a caller that expects 100-continue for too large a body gets 413 instead")
        func refusedExpectation() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n")
                #expect(try client.receiveAnswer().status == 413)
            }
        }

        @Test("a rejection reaches a caller that is still sending a large body")
        func lingering() async throws {
            try await TestServer.run { server in
                let client = try server.connect()
                client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n")
                client.send([UInt8](repeating: 0x61, count: 500_000))
                #expect(try client.receiveAnswer().status == 413)
            }
        }

        @Test("204 and 304 have neither a body nor a length", arguments: [204, 304])
        func bodiless(status: Int) async throws {
            try await TestServer.run { _ in
                Response(status: status, body: [1, 2, 3])
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                let all = try client.receiveAll()
                #expect(statuses(all) == [status])
                #expect(!all.contains("Content-Length"))
                #expect(all.hasSuffix("\r\n\r\n"))
            }
        }

        @Test(
            "a response that would break out of its head becomes 500",
            arguments: [("X", "a\r\nSet-Cookie: b"), ("X", "a\nb"), ("X", "a\0"), ("X\r\nY", "a"), ("", "a")],
            [false, true])
        func splitting(_ field: (name: String, value: String), isFixed: Bool) async throws {
            try await TestServer.run { _ in
                var response = Response(status: 200, headers: isFixed ? [] : [field])
                if isFixed { response.fixed = FixedFields([field]) }
                return response
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let answer = try client.receiveAnswer()
                #expect(answer.status == 500)
                #expect(!answer.head.contains("Set-Cookie"))
            }
        }

        @Test(
            "the status line has the phrase of the status",
            arguments: [(200, "OK"), (410, "Gone"), (412, "Precondition Failed"), (421, "Misdirected Request")])
        func phrases(status: Int, phrase: String) async throws {
            try await TestServer.run { _ in
                Response(status: status)
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAnswer().head.hasPrefix("HTTP/1.1 \(status) \(phrase)\r\n"))
            }
        }

        @Test("a handler cannot override the framing")
        func reservedFields() async throws {
            try await TestServer.run { _ in
                var response = Response(status: 200, headers: [("content-length", "9"), ("Transfer-Encoding", "x")])
                response.fixed = FixedFields([("Connection", "close"), ("X", "y")])
                return response
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                let head = try client.receiveAnswer().head
                #expect(head.contains("X: y\r\nContent-Length: 0\r\n"))
                #expect(!head.contains("Transfer-Encoding") && !head.contains("content-length"))
                #expect(!head.contains("Connection"))
            }
        }

        @Test("a large response arrives complete over a small window")
        func largeAnswer() async throws {
            let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) & 0x3F | 0x40 }
            try await TestServer.run { _ in
                Response(status: 200, body: body)
            } _: { server in
                let client = try server.connect(receiveBuffer: 8192)
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.receiveAnswer().body == String(decoding: body, as: UTF8.self))
            }
        }

        @Test("closing the connection cancels the handler")
        func cancellation() async throws {
            let (cancelled, report) = AsyncStream.makeStream(of: Bool.self)
            let (started, begin) = AsyncStream.makeStream(of: Void.self)
            try await TestServer.run { _ in
                begin.yield()
                await untilCancelled()
                report.yield(Task.isCancelled)
                return Response(status: 200)
            } _: { server in
                var client: TestClient? = try server.connect()
                client?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                for await _ in started { break }
                client = nil
                for await isCancelled in cancelled {
                    #expect(isCancelled)
                    break
                }
            }
        }

        @Test("the loops answer a watchdog while they run, and not while a handler blocks one")
        func watchdog() async throws {
            let gate = DispatchSemaphore(value: 0)
            let (started, begin) = AsyncStream.makeStream(of: Void.self)
            try await TestServer.run(threads: 1) { _ in
                begin.yield()
                Self.block(on: gate)
                return Response(status: 200)
            } _: { server in
                let client = try server.connect()
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                for await _ in started { break }
                #expect(await !server.server.isAlive(within: .milliseconds(50)))
                gate.signal()
                #expect(try client.receiveAnswer().status == 200)
                #expect(await server.server.isAlive(within: .seconds(5)))
            }
        }

        private static func block(on gate: DispatchSemaphore) { gate.wait() }
    }
}
