import SocketServer
import Testing

@Suite("Who may call")
struct CallerGuardTests {
    @Test(
        "the token lets in, anything else gets 401", arguments: [nil, "Bearer x", "Bearer ", "Basic 0123456789abcdef"])
    func token(_ authorization: String?) async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/v1/status").status == 200)
        let refused = await api.call("GET", "/v1/status", headers: ["Authorization": authorization])
        #expect(refused.status == 401)
        #expect(refused.header("WWW-Authenticate") == "Bearer")
    }

    @Test("a known user of the Unix socket needs no token, another does")
    func peer() async throws {
        let api = try TestAPI()
        let nothing: [String: String?] = ["Authorization": nil]
        let known = Peer.unix(pid: 1, uid: 1000, gid: 1000)
        let other = Peer.unix(pid: 1, uid: 1001, gid: 1001)
        #expect(await api.call("GET", "/v1/status", headers: nothing, peer: known).status == 200)
        #expect(await api.call("GET", "/v1/status", headers: nothing, peer: other).status == 401)
    }

    @Test("only whether the daemon is alive is told to everybody")
    func health() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/healthz", headers: ["Authorization": nil]).status == 200)
        #expect(await api.call("GET", "/readyz", headers: ["Authorization": nil]).status == 401)
        #expect(await api.call("GET", "/readyz").status == 200)
    }

    @Test(
        "a request that another machine or page has a hand in gets 403",
        arguments: [
            ("Host", "evil.example"), ("Host", "localhost.evil.example"), ("Host", "10.0.0.1:7679"),
            ("Origin", "https://evil.example"), ("Origin", "null"), ("Origin", "http://localhost.evil.example"),
            ("Referer", "https://evil.example/page"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ])
    func foreign(_ name: String, _ value: String) async throws {
        #expect(try await TestAPI().call("GET", "/v1/status", headers: [name: value]).status == 403)
    }

    @Test(
        "its own names are the daemon's",
        arguments: ["localhost", "LOCALHOST:1", "127.0.0.1:7679", "[::1]:7679", "[::1]"])
    func own(_ host: String) async throws {
        #expect(try await TestAPI().call("GET", "/v1/status", headers: ["Host": host]).status == 200)
    }

    @Test(
        "a body that is not JSON by its type gets 415",
        arguments: ["text/plain", "application/x-www-form-urlencoded", nil])
    func contentType(_ type: String?) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#, headers: ["Content-Type": type])
        #expect(answer.status == 415)
    }
}
