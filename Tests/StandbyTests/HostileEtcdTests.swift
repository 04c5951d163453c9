import Foundation
import JSONText
import Synchronization
import Testing
import Upstream

@testable import Standby

@Suite("A server in place of etcd") struct HostileEtcdTests {
    /// Answers every list of keys with fifty more.
    private final class Endless: HTTPTransport {
        let calls = Mutex(0)
        private let isOrdered: Bool

        init(isOrdered: Bool) { self.isOrdered = isOrdered }

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard call <= 1000 else { throw .unreachable("a thousand answers were read") }
            let entries = (0..<50).map { index -> JSONText in
                let number = (isOrdered ? call * 100 : 100) + index
                let key = Data("shop/queue/\(1_000_000 + number)".utf8).base64EncodedString()
                let value = Data(String(repeating: "x", count: 1000).utf8).base64EncodedString()
                return .object(["key": .string(key), "value": .string(value)])
            }
            return HTTPResponse(status: 200, body: Array(JSONText.object(["kvs": .array(entries)]).bytes))
        }
    }

    private func failure(_ transport: Endless) async -> String? {
        let settings = StandbySettings(members: ["http://a"], key: "shop", ttl: .seconds(15), name: "a")
        let gateway = EtcdGateway(settings, transport: transport)
        do throws(StandbyError) {
            _ = try await gateway.all("shop/queue/", most: 1 << 20)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("cannot fill the memory with an endless queue")
    func endless() async {
        let transport = Endless(isOrdered: true)
        #expect(await failure(transport) == "etcd has more than 1 MiB below shop/queue/")
        #expect(transport.calls.withLock { $0 } < 25)
    }

    @Test("cannot have the same keys read for ever")
    func repeated() async {
        let transport = Endless(isOrdered: false)
        #expect(await failure(transport) == "etcd answered keys out of order")
        #expect(transport.calls.withLock { $0 } == 2)
    }
}
