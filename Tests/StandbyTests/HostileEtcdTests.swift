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

    /// Gives every call the same answer.
    private struct Fixed: HTTPTransport {
        let status: Int
        let body: [UInt8]

        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            HTTPResponse(status: status, body: body)
        }
    }

    private let settings = StandbySettings(members: ["http://a"], key: "shop", ttl: .seconds(15), name: "a")

    @Test("cannot fill the memory with one answer of many values")
    func manyValues() async {
        let values = [UInt8](#"{"kvs":[0"#.utf8) + Array(repeatElement(Array(",0".utf8), count: 20_000).joined())
        let gateway = EtcdGateway(settings, transport: Fixed(status: 200, body: values + Array("]}".utf8)))
        let error = await #expect(throws: StandbyError.self) { try await gateway.holder(of: settings) }
        #expect(error?.message == "status 200")
    }

    @Test("cannot fill the memory with one value")
    func longValue() async {
        let value = Data(repeating: UInt8(ascii: "["), count: 3 << 20).base64EncodedString()
        let list = JSONText.object(["kvs": .array([.object(["key": .string("c2hvcA=="), "value": .string(value)])])])
        let gateway = EtcdGateway(settings, transport: Fixed(status: 200, body: Array(list.bytes)))
        let error = await #expect(throws: StandbyError.self) { try await gateway.all("shop/queue/") }
        #expect(error?.message == "etcd has a value of more than 2 MiB")
    }

    @Test("cannot fill log and status with the name of a holder, or with words about a failure")
    func longTexts() async throws {
        let long = String(repeating: "x", count: 100_000)
        let value = Data(JSONText.object(["holder": .string(long)]).bytes).base64EncodedString()
        let entry = JSONText.object(["key": .string("c2hvcA=="), "value": .string(value)])
        let list = Array(JSONText.object(["kvs": .array([entry])]).bytes)
        let name = try await EtcdGateway(settings, transport: Fixed(status: 200, body: list)).holder(of: settings)
        #expect(name?.utf8.count == 200)
        let refusal = Array(JSONText.object(["message": .string(long)]).bytes)
        let gateway = EtcdGateway(settings, transport: Fixed(status: 400, body: refusal))
        let error = await #expect(throws: StandbyError.self) { try await gateway.holder(of: settings) }
        #expect(error?.message.utf8.count == 500)
    }
}
