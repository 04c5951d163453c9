import Synchronization
import Testing
import Upstream

@Suite("Observed requests")
struct ObservedTransportTests {
    /// What is reported of one request.
    private func reported(_ answer: @escaping ScriptedTransport.Answer) async -> [Int?] {
        let statuses = Mutex<[Int?]>([])
        let transport = ObservedTransport(ScriptedTransport(answer)) { status in statuses.withLock { $0.append(status) }
        }
        _ = try? await transport.send(HTTPRequest(method: "GET", url: "http://localhost/orders"))
        return statuses.withLock { $0 }
    }

    @Test("the status of a response is reported")
    func status() async {
        #expect(await reported { _ in .json(404, "{}") } == [404])
    }

    @Test("a request without a response is reported without a status")
    func unreachable() async {
        #expect(await reported { _ throws(TransportError) in throw .unreachable("refused") } == [nil])
        #expect(await reported { _ throws(TransportError) in throw .ambiguous("reset") } == [nil])
    }

    @Test("a cancelled request is not reported")
    func cancelled() async {
        #expect(await reported { _ throws(TransportError) in throw .cancelled } == [])
    }
}
