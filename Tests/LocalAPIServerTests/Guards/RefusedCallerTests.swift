import Logging
import SocketServer
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Refused callers")
struct RefusedCallerTests {
    @Test("are counted by reason")
    func counted() async throws {
        let api = try TestAPI()
        for _ in 1...3 { _ = await api.call("GET", "/v1/status", headers: ["Authorization": nil]) }
        _ = await api.call("GET", "/v1/status", headers: ["Host": "evil.example"])
        _ = await api.call("GET", "/v1/status", headers: ["Origin": "https://evil.example"])
        let metrics = await api.call("GET", "/metrics").text
        #expect(metrics.contains(#"refused_callers_total{reason="unknown_caller"} 3"#))
        #expect(metrics.contains(#"refused_callers_total{reason="other_host"} 1"#))
        #expect(metrics.contains(#"refused_callers_total{reason="web_page"} 1"#))
    }

    @Test("are logged once a minute for each user, however often they call")
    func logged() async throws {
        let log = LogLines(from: .trace)
        let api = try TestAPI(log: log.logger)
        for user: UInt32 in [1000, 1001, 1000, 1001] {
            let caller = Caller(user: user, access: .stranger)
            _ = await api.call("GET", "/v1/status", headers: ["Authorization": nil], caller: caller)
        }
        #expect(log.all.map { $0.metadata["user"] } == ["1000", "1001"])
    }
}
