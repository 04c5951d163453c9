import CacheStore
import JSONText
import SQLiteStore
import SocketServer
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Sessions")
struct SessionTests {
    private static let page: [String: String?] = [
        "Authorization": nil, "Origin": "http://localhost:7679", "X-Repairminder-Page": "1",
    ]

    private static func tcp(_ address: String) -> Peer {
        .tcp(remote: .init(address: address, port: 1), local: .init(address: "127.0.0.1", port: 7679))
    }

    private func signIn(
        _ api: TestAPI, token: String = TestAPI.token, headers: [String: String?] = page, caller: Caller = .unknown
    ) async -> TestAPI.Answer {
        let body = JSONText.object(["token": .string(token)]).text
        return await api.call("POST", "/v1/_session", body: body, headers: headers, caller: caller)
    }

    /// What a browser sends back.
    private func cookie(_ answer: TestAPI.Answer) throws -> String {
        String(try #require(answer.header("Set-Cookie")?.split(separator: ";").first))
    }

    @Test("the token gets a cookie that only the browser can read, and that no other site sends")
    func begin() async throws {
        let answer = await signIn(try TestAPI())
        #expect(answer.status == 204)
        let cookie = try #require(answer.header("Set-Cookie"))
        #expect(
            cookie.wholeMatch(
                of: /repairminder-session-7679=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict/) != nil)
        #expect(!cookie.contains(TestAPI.token))
    }

    @Test("the server is told when a token or a session is valid, so that the connection is no stranger's")
    func known() async throws {
        let api = try TestAPI()
        func isNoted(
            _ headers: [String: String?], _ method: String = "GET", _ path: String = "/v1/status", body: String = ""
        ) async -> Bool {
            let count = Counter()
            _ = await api.call(method, path, body: body, headers: headers) { _ = count.next() }
            return count.next() > 1
        }
        #expect(await isNoted([:]))
        #expect(await !isNoted(["Authorization": nil]))
        #expect(await !isNoted(["Authorization": "Bearer x"]))
        #expect(await !isNoted(["Authorization": nil], "GET", "/healthz"))
        #expect(await isNoted(Self.page, "POST", "/v1/_session", body: #"{"token":"\#(TestAPI.token)"}"#))
        #expect(await !isNoted(Self.page, "POST", "/v1/_session", body: #"{"token":"guessed"}"#))
        let cookie = try await cookie(signIn(api))
        #expect(await isNoted(["Authorization": nil, "Cookie": cookie]))
        #expect(await !isNoted(["Authorization": nil, "Cookie": cookie + "0"]))
    }

    @Test("the cookie lets its caller read, and write from the page")
    func use() async throws {
        let api = try await TestAPI.filled()
        let cookie = try await cookie(signIn(api))
        let known = Self.page.merging(["Cookie": "theme=dark; \(cookie)"]) { $1 }
        #expect(await api.call("GET", "/v1/status", headers: ["Authorization": nil, "Cookie": cookie]).status == 200)
        #expect(await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#, headers: known).status == 200)
        #expect(await api.call("GET", "/v1/status", headers: ["Authorization": nil]).status == 401)
    }

    @Test("a write with the cookie that is not from the page is refused", arguments: ["Origin", "X-Repairminder-Page"])
    func foreign(_ missing: String) async throws {
        let api = try await TestAPI.filled()
        let cookie = try await cookie(signIn(api))
        let headers = Self.page.merging(["Cookie": cookie, missing: .none]) { $1 }
        for (method, path) in [("PATCH", "/v1/orders/a"), ("POST", "/v1/sync/pause"), ("DELETE", "/v1/_session")] {
            let answer = await api.call(method, path, body: method == "DELETE" ? "" : "{}", headers: headers)
            #expect(answer.status == 403, "\(method) \(path)")
        }
    }

    @Test("a wrong token gets 401, and many get 429")
    func wrong() async throws {
        let api = try TestAPI()
        var statuses: [Int] = []
        for _ in 1...40 { statuses.append(await signIn(api, token: "0123456789abcdeF").status) }
        #expect(statuses.prefix(10).allSatisfy { $0 == 401 })
        #expect(statuses.contains(429))
        #expect(await signIn(try TestAPI(), token: "").status == 401)
    }

    @Test("a made-up cookie, another port's cookie and another caller's cookie open nothing")
    func guessed() async throws {
        let api = try TestAPI()
        let owner = Caller(user: 1001, access: .stranger)
        let cookie = try await cookie(signIn(api, caller: owner))
        func status(_ cookie: String, _ caller: Caller) async -> Int {
            await api.call("GET", "/v1/status", headers: ["Authorization": nil, "Cookie": cookie], caller: caller)
                .status
        }
        #expect(await status(cookie, owner) == 200)
        #expect(await status(cookie, Caller(user: 1002, access: .stranger)) == 401)
        #expect(await status(cookie.replacing("7679", with: "7680"), owner) == 401)
        #expect(await status("repairminder-session-7679=\(String(repeating: "0", count: 64))", owner) == 401)
        #expect(await status("repairminder-session-7679=", owner) == 401)
    }

    @Test("the end of a session removes its cookie, which opens nothing from then on")
    func end() async throws {
        let api = try TestAPI()
        let cookie = try await cookie(signIn(api))
        let known = Self.page.merging(["Cookie": cookie]) { $1 }
        let answer = await api.call("DELETE", "/v1/_session", headers: known)
        #expect(answer.status == 204)
        #expect(answer.header("Set-Cookie")?.hasSuffix("; Max-Age=0") == true)
        #expect(await api.call("GET", "/v1/status", headers: known).status == 401)
        #expect(await api.call("DELETE", "/v1/_session", headers: known).status == 204)
    }

    @Test("the end of a session ends its event streams before the next change")
    func stream() async throws {
        let api = try await TestAPI.filled()
        let cookie = try await cookie(signIn(api))
        let known = Self.page.merging(["Cookie": cookie]) { $1 }
        let pieces = Counter()
        let stream = await api.call("GET", "/v1/events?since=0", headers: known)
        let text = try await stream.whole {
            // The first piece has no event, the second those of the past.
            let piece = pieces.next()
            guard piece >= 2 else { return }
            #expect(piece == 2)
            guard piece == 2 else { throw CancellationError() }
            #expect(await api.call("DELETE", "/v1/_session", headers: known).status == 204)
            let later = PulledPage(entity: "orders", records: #"[{"id":"later","status":"open"}]"#)
            _ = try await api.store.apply(later, at: TestAPI.now)
        }
        #expect(text.contains("\"id\":\"a\"") && !text.contains("later"))
    }

    @Test("the end of a session cuts its whole lists off")
    func wholeList() async throws {
        let api = try TestAPI()
        let records = (0..<1200).map { #"{"id":"o\#(1000 + $0)","status":"open"}"# }
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: "[\(records.joined(separator: ","))]"), at: TestAPI.now)
        let cookie = try await cookie(signIn(api))
        let known = Self.page.merging(["Cookie": cookie]) { $1 }
        let pieces = Counter()
        let list = await api.call("GET", "/v1/orders", headers: known.merging(["Accept": "application/jsonl"]) { $1 })
        await #expect(throws: CancellationError.self) {
            try await list.whole {
                _ = pieces.next()
                #expect(await api.call("DELETE", "/v1/_session", headers: known).status == 204)
            }
        }
        #expect(pieces.next() == 2)
    }

    @Test(
        "who waits gets nothing more once the session has ended",
        arguments: ["/v1/changes?wait=30", "/v1/orders/a"])
    func waiting(_ target: String) async throws {
        let api = try await TestAPI.filled()
        let cookie = try await cookie(signIn(api))
        let known = Self.page.merging(["Cookie": cookie]) { $1 }
        let tag = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let waiting = known.merging(["If-None-Match": tag, "Prefer": "wait=30"]) { $1 }
        async let answer = api.call("GET", target, headers: waiting)
        while api.store.signal.waiterCount == 0 { await Task.yield() }
        #expect(await api.call("DELETE", "/v1/_session", headers: known).status == 204)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#)
        #expect(await answer.status == 401)
    }

    @Test("an event stream does not keep its session from ending")
    func idleStream() {
        let clock = Instants()
        let sessions = Sessions(now: { clock.now }, random: { 7 })
        let id = sessions.begin(for: .user(1))
        clock.pass(Sessions.idleLimit - .seconds(1))
        #expect(sessions.has(id, by: .user(1)) && !sessions.has(id, by: .user(2)))
        clock.pass(.seconds(1))
        #expect(!sessions.has(id, by: .user(1)))
    }

    @Test("a session ends when it is not used for eight hours, and each use starts them again")
    func idle() {
        let clock = Instants()
        let sessions = Sessions(now: { clock.now }, random: { 7 })
        let id = sessions.begin(for: .user(1))
        for _ in 1...3 {
            clock.pass(Sessions.idleLimit - .seconds(1))
            #expect(sessions.use(id, by: .user(1)))
        }
        clock.pass(Sessions.idleLimit)
        #expect(!sessions.use(id, by: .user(1)))
    }

    @Test("beyond the most sessions, the one that was not used for the longest time ends")
    func bounded() {
        let (clock, counter) = (Instants(), Counter())
        let sessions = Sessions(now: { clock.now }, random: { UInt64(counter.next()) })
        let ids = (0..<Sessions.most).map { _ in
            clock.pass(.seconds(1))
            return sessions.begin(for: .unknown)
        }
        #expect(sessions.use(ids[0], by: .unknown))
        _ = sessions.begin(for: .unknown)
        #expect(sessions.use(ids[0], by: .unknown))
        #expect(!sessions.use(ids[1], by: .unknown))
    }

    @Test("where other machines may call, a page over TLS gets a cookie for TLS only, bound to its address")
    func remote() throws {
        let guarding = CallerGuard(token: "t", owners: [], group: nil, isRemoteAllowed: true)
        func request(_ origin: String, _ address: String, _ cookie: String = "") -> Request {
            var headers = Headers()
            for (name, value) in [("Host", "shop.example"), ("Origin", origin), ("Cookie", cookie)] {
                headers.append(name: name, value: value)
            }
            return Request(method: "GET", path: "/v1/status", headers: headers, peer: Self.tcp(address))
        }
        let cookie = try guarding.beginSession(token: "t", request("https://shop.example", "192.0.2.1"))
        #expect(cookie.hasPrefix("repairminder-session=") && cookie.hasSuffix("; Secure"))
        let pair = String(cookie.prefix { $0 != ";" })
        try guarding.check(request("https://shop.example", "192.0.2.1", pair))
        #expect(throws: Problem.self) { try guarding.check(request("https://shop.example", "192.0.2.2", pair)) }
        let plain = try guarding.beginSession(token: "t", request("http://shop.example", "192.0.2.1"))
        #expect(!plain.contains("Secure"))
    }

    @Test("an unknown reader of the page is asked for the token, and sees nothing else")
    func page() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/", headers: ["Authorization": nil])
        #expect(answer.status == 401)
        #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.text.contains("<body data-signed-out>"))
        #expect(!answer.text.contains("orders"))
        let cookie = try await cookie(signIn(api))
        let page = await api.call("GET", "/", headers: ["Authorization": nil, "Cookie": cookie])
        #expect(page.status == 200 && page.text.contains("<body data-session>"))
        #expect(await api.call("GET", "/").text.contains("<body>"))
    }

    @Test("the body is checked", arguments: ["[]", "{}", #"{"token":1}"#, #"{"token":"t","x":1}"#, "{"])
    func body(_ body: String) async throws {
        #expect(try await TestAPI().call("POST", "/v1/_session", body: body, headers: Self.page).status == 400)
    }
}
