import Foundation
import SocketServer
import Synchronization
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

        @Test func `a caller who sends on after its refusal keeps no other caller waiting`() async throws {
            var limits = ServerLimits.quick
            limits.linger = .seconds(5)
            try await answersDuringFlood(limits)
        }

        @Test func `a caller beyond the limit who sends on keeps no other caller waiting`() async throws {
            var limits = ServerLimits.quick
            limits.connections = 1
            limits.patienceWhenFull = .seconds(3600)
            try await answersDuringFlood(limits)
        }

        /// Another caller gets its answers from the one event loop while two send on.
        private func answersDuringFlood(_ limits: ServerLimits) async throws {
            try await TestServer.run(limits: limits, threads: 1) { server in
                let other = try server.connect()
                #expect(other.ask() == 200)
                let pump = Pump()
                for _ in 1...2 { pump.start(at: server.address) }
                while pump.pieces.load(ordering: .relaxed) < 20 { try await Task.sleep(for: .milliseconds(1)) }
                let begun = ContinuousClock.now
                for _ in 1...20 { #expect(other.ask() == 200) }
                #expect(.now - begun < .seconds(4))
                pump.isOn.store(false, ordering: .relaxed)
            }
        }

        /// Callers who send what is not a request, as fast as they can, and connect again when they are refused.
        private final class Pump: Sendable {
            let isOn = Atomic(true)
            let pieces = Atomic(0)

            func start(at address: BoundAddress) {
                Thread.detachNewThread { [self] in
                    while isOn.load(ordering: .relaxed), let sender = try? TestClient(address) {
                        sender.send("no request\r\n")
                        for _ in 1...64 where isOn.load(ordering: .relaxed) {
                            sender.send([UInt8](repeating: 120, count: 1 << 20))
                            pieces.wrappingAdd(1, ordering: .relaxed)
                        }
                    }
                }
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
