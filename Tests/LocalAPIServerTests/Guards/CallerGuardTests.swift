import CallerLookup
import Dispatch
import JSONText
import SocketServer
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Who may call")
struct CallerGuardTests {
    @Test(
        "the token is accepted, anything else gets 401",
        arguments: [
            nil, "Bearer x", "Bearer ", "Bearer", "Basic 0123456789abcdef", "Bearer 0123456789abcdeF",
            "Bearer 0123456789abcdef ", "0123456789abcdef",
        ])
    func token(_ authorization: String?) async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/v1/status").status == 200)
        #expect(
            await api.call("GET", "/v1/status", headers: ["Authorization": "bearer \(TestAPI.token)"]).status == 200)
        let refused = await api.call("GET", "/v1/status", headers: ["Authorization": authorization])
        #expect(refused.status == 401)
        #expect(refused.header("WWW-Authenticate") == "Bearer")
    }

    @Test("a daemon without a token accepts none")
    func noToken() throws {
        var headers = Headers()
        headers.append(name: "Host", value: "localhost")
        headers.append(name: "Authorization", value: "Bearer ")
        let request = Request(method: "GET", path: "/v1/status", headers: headers)
        #expect(throws: Problem.self) { try CallerGuard(token: "", owners: [], group: nil).check(request) }
    }

    @Test("bytes of a token that are not UTF-8 equal no others")
    func otherBytes() {
        var headers = Headers()
        headers.append(name: "Host", value: "localhost")
        headers.append(name: "Authorization", value: "Bearer t\u{FFFD}")
        let request = Request(method: "GET", path: "/v1/status", headers: headers)
        #expect(throws: Problem.self) { try CallerGuard(token: "t\u{FFFD}", owners: [], group: nil).check(request) }
    }

    @Test("a known caller needs no token, an unknown one does")
    func known() async throws {
        let api = try TestAPI()
        let nothing: [String: String?] = ["Authorization": nil]
        for (access, status) in [(Caller.Access.owner, 200), (.member, 200), (.stranger, 401)] {
            let caller = Caller(user: 1000, access: access)
            #expect(await api.call("GET", "/v1/status", headers: nothing, caller: caller).status == status)
        }
    }

    @Test("owners and members are known on either kind of socket, others are not")
    func access() {
        let guarding = CallerGuard(
            token: "t", owners: [0, 1000], group: GroupMembers(of: 7) { user, group in user == 1001 && group == 7 })
        for peer in [Peer.unix(pid: 1, uid: 1, gid: 1), Self.tcp] {
            #expect(guarding.caller(PeerCredentials(user: 0), over: peer).access == .owner)
            #expect(guarding.caller(PeerCredentials(user: 1000), over: peer).access == .owner)
            #expect(guarding.caller(PeerCredentials(user: 1001), over: peer).access == .member)
            #expect(guarding.caller(PeerCredentials(user: 1002, groups: [1002, 7]), over: peer).access == .member)
            #expect(guarding.caller(PeerCredentials(user: 1002, groups: [1002]), over: peer).access == .stranger)
            #expect(guarding.caller(nil, over: peer) == .unknown)
        }
    }

    @Test("another daemon is no member by its group alone, other processes with it are", arguments: processes)
    func daemons(_ process: (user: UInt32, name: String?, isMember: Bool)) {
        let caller = PeerCredentials(user: process.user, groups: [7])
        let unlisted = GroupMembers(of: 7) { _, _ in
            false
        } nameOf: { _ in
            process.name
        }
        #expect(unlisted.includes(caller) == process.isMember)
        let listed = GroupMembers(of: 7) { _, _ in
            true
        } nameOf: { _ in
            process.name
        }
        #expect(listed.includes(caller))
    }

    private static let processes: [(user: UInt32, name: String?, isMember: Bool)] = [
        (61_184, "rmsync-propdocs", false), (65_519, "repairminder-sync", false), (61_200, nil, false),
        (61_200, "backup-job", true), (990, "rmsync-propdocs", false), (990, "www-data", true), (990, nil, true),
        (1000, "rmsync-anna", true), (65_520, nil, true), (54_321, nil, true),
    ]

    @Test("where other machines may call, every caller over TCP needs the token")
    func remote() {
        let guarding = CallerGuard(token: "t", owners: [0], group: nil, isRemoteAllowed: true)
        let root = PeerCredentials(user: 0)
        #expect(guarding.caller(root, over: Self.tcp).access == .stranger)
        #expect(guarding.caller(root, over: .unix(pid: 1, uid: 0, gid: 0)).access == .owner)
    }

    @Test(
        "over TCP a known caller needs the token where the configuration says so",
        arguments: [TokenlessTCP.all, .reads, .never])
    func tokenlessTCP(_ choice: TokenlessTCP) throws {
        let guarding = CallerGuard(token: "t", owners: [0], group: nil, tcpWithoutToken: choice)
        func reason(_ method: String, _ peer: Peer, _ token: String? = nil) -> String? {
            var headers = Headers()
            headers.append(name: "Host", value: "localhost")
            if let token { headers.append(name: "Authorization", value: "Bearer \(token)") }
            let request = Request(
                method: method, path: "/v1/orders", headers: headers, peer: peer,
                caller: guarding.caller(PeerCredentials(user: 0), over: peer))
            do throws(Problem) {
                try guarding.checkHead(request, isOpen: false)
                return nil
            } catch {
                return error.status == 401 && error.refusal == .noToken ? error.detail : "another problem"
            }
        }
        let expected = choice == .all ? nil : "listen.tcp_without_token is \(choice.rawValue): "
        for method in ["POST", "PATCH", "PUT", "DELETE"] {
            let found = reason(method, Self.tcp)
            if let expected { #expect(found?.hasPrefix(expected) == true) } else { #expect(found == nil) }
            #expect(reason(method, Self.tcp, "t") == nil)
            #expect(reason(method, .unix(pid: 1, uid: 0, gid: 0)) == nil)
        }
        for method in ["GET", "HEAD"] { #expect((reason(method, Self.tcp) == nil) == (choice != .never)) }
    }

    @Test("the user database is asked once in ten seconds for a user")
    func database() {
        let clock = Instants()
        let asked = Instants()
        let members = GroupMembers(of: 7) { _, _ in
            asked.pass(.seconds(1))
            return true
        } now: {
            clock.now
        }
        let start = asked.now
        for _ in 0..<5 { #expect(members.includes(PeerCredentials(user: 1))) }
        #expect(asked.now - start == .seconds(1))
        clock.pass(.seconds(11))
        #expect(members.includes(PeerCredentials(user: 1)))
        #expect(asked.now - start == .seconds(2))
    }

    @Test("while the user database does not answer, what it said last counts, and an unknown user is no member")
    func slowDatabase() {
        let clock = Instants()
        let start = clock.now
        let gate = DispatchSemaphore(value: 0)
        let members = GroupMembers(of: 7, patience: .milliseconds(500)) { user, _ in
            if clock.now > start { gate.wait() }
            return user != 2
        } now: {
            clock.now
        }
        #expect(members.includes(PeerCredentials(user: 1)))
        #expect(!members.includes(PeerCredentials(user: 2)))
        clock.pass(.seconds(11))
        for _ in 0..<2 { #expect(members.includes(PeerCredentials(user: 1))) }
        #expect(!members.includes(PeerCredentials(user: 3)))
        for _ in 0..<2 { gate.signal() }
    }

    @Test("callers wait for the user database for a limited time together, however many they are")
    func limitedWaits() {
        let clock = Instants()
        let gate = DispatchSemaphore(value: 0)
        let isSlow = Mutex(true)
        let members = GroupMembers(of: 7, patience: .seconds(3600)) { user, _ in
            guard isSlow.withLock(\.self) else { return true }
            // Those who still wait get an answer after an hour; the others leave without one.
            if user < 3 { clock.pass(.seconds(3600)) } else { gate.wait() }
            return true
        } now: {
            clock.now
        }
        for user: UInt32 in 0..<3 { #expect(members.includes(PeerCredentials(user: user))) }
        for user: UInt32 in 3..<10 { #expect(!members.includes(PeerCredentials(user: user))) }
        isSlow.withLock { $0 = false }
        clock.pass(.seconds(36_000))
        #expect(members.includes(PeerCredentials(user: 10)))
        for _ in 3..<10 { gate.signal() }
    }

    @Test("an answer about one user does not wait for those about others")
    func stuckAnswers() {
        let gate = DispatchSemaphore(value: 0)
        let stuck = GroupMembers(of: 7, patience: .milliseconds(1)) { _, _ in
            gate.wait()
            return true
        }
        let users: Range<UInt32> = 0..<40
        for user in users { #expect(!stuck.includes(PeerCredentials(user: user))) }
        let quick = GroupMembers(of: 7, patience: .seconds(5)) { _, _ in true }
        #expect(quick.includes(PeerCredentials(user: 1)))
        for _ in users { gate.signal() }
    }

    @Test("while 16 questions to the user database are open, a user that it was not asked about is no member")
    func openQuestions() {
        let gate = DispatchSemaphore(value: 0)
        let answered = DispatchSemaphore(value: 0)
        let started = Instants()
        let start = started.now
        let members = GroupMembers(of: 7, patience: .milliseconds(1)) { _, _ in
            started.pass(.seconds(1))
            gate.wait()
            answered.signal()
            return true
        }
        for user: UInt32 in 0..<40 { #expect(!members.includes(PeerCredentials(user: user))) }
        for _ in 0..<16 { gate.signal() }
        for _ in 0..<16 { answered.wait() }
        #expect(started.now - start == .seconds(16))
    }

    @Test("a user waits for a turn while 16 other questions are open")
    func turns() {
        let gate = DispatchSemaphore(value: 0)
        let asked = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let found = Counter()
        let members = GroupMembers(of: 7, patience: .seconds(10)) { _, _ in
            asked.signal()
            gate.wait()
            return true
        }
        let users: Range<UInt32> = 0..<17
        for user in users {
            DispatchQueue(label: "caller").async {
                if members.includes(PeerCredentials(user: user)) { found.next() }
                ended.signal()
            }
        }
        for _ in 0..<16 { asked.wait() }
        for _ in users { gate.signal() }
        for _ in users { ended.wait() }
        #expect(found.count == 17)
    }

    @Test("/healthz answers unknown callers, /readyz does not")
    func health() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/healthz", headers: ["Authorization": nil]).status == 200)
        #expect(await api.call("GET", "/readyz", headers: ["Authorization": nil]).status == 401)
        #expect(await api.call("GET", "/readyz").status == 200)
    }

    @Test(
        "a request for another host name or from another site's page gets 403",
        arguments: [
            ("Host", "evil.example"), ("Host", "localhost.evil.example"), ("Host", "10.0.0.1:7679"),
            ("Host", "127.0.0.1.evil.example:7679"), ("Host", "localhost:7679:80"), ("Host", "[::2]:7679"),
            ("Origin", "https://evil.example"), ("Origin", "null"), ("Origin", "http://localhost.evil.example"),
            ("Origin", "http://localhost:3000"), ("Origin", "https://localhost:7679"), ("Origin", ""),
            ("Referer", "https://evil.example/page"), ("Referer", "http://localhost:7679.evil.example/"),
            ("Referer", "http://localhost:7679@evil.example/"),
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ])
    func foreign(_ name: String, _ value: String) async throws {
        #expect(try await TestAPI().call("GET", "/v1/status", headers: [name: value]).status == 403)
        #expect(try await TestAPI().call("GET", "/healthz", headers: [name: value]).status == 403)
    }

    @Test(
        "a service worker that another program left at the daemon's address is removed",
        arguments: ["/sw.js", "/", "/v1"])
    func serviceWorker(_ path: String) async throws {
        let script: [String: String?] = ["Service-Worker": "script", "Sec-Fetch-Site": "same-origin"]
        for headers in [script, script.merging(["Authorization": nil]) { $1 }] {
            let answer = try await TestAPI().call("GET", path, headers: headers)
            #expect(answer.status == 403)
            #expect(answer.header("Clear-Site-Data") == #""storage", "cache""#)
        }
        #expect(try await TestAPI().call("GET", path).header("Clear-Site-Data") == nil)
    }

    @Test(
        "the daemon accepts its own names, and calls from its own pages",
        arguments: ["localhost", "LOCALHOST:1", "127.0.0.1:7679", "[::1]:7679", "[::1]"])
    func own(_ host: String) async throws {
        let headers = [
            "Host": host, "Origin": "http://\(host)", "Referer": "http://\(host)/a?b", "Sec-Fetch-Site": "same-origin",
        ]
        let answer = try await TestAPI().call("GET", "/v1/status", headers: headers)
        #expect(answer.status == 200)
        #expect(!answer.response.allHeaders.contains { $0.name.lowercased().hasPrefix("access-control") })
    }

    @Test(
        "for a browser a name counts only if the daemon has all its addresses, for other callers it always does",
        arguments: [
            (["127.0.0.1"], true, ["127.0.0.1"]), (["::1"], true, ["[::1]"]), (["127.0.0.2"], true, ["127.0.0.2"]),
            (["127.0.0.1", "::1"], true, ["127.0.0.1", "[::1]", "localhost"]),
            (["127.0.0.1"], false, ["127.0.0.1", "localhost"]),
        ])
    func addresses(_ addresses: [String], _ hasIPv6: Bool, _ names: [String]) {
        let bound = addresses.map { BoundAddress.tcp(Peer.Endpoint(address: $0, port: 7679)) }
        let guarding = CallerGuard(
            token: "t", owners: [0], group: nil, hosts: OwnHosts(bound + [.unix(path: "/a")], hasIPv6: hasIPv6))
        func mayCall(_ name: String, over peer: Peer, _ field: (String, String)? = nil) -> Bool {
            var headers = Headers()
            headers.append(name: "Host", value: "\(name):7679")
            if let field { headers.append(name: field.0, value: field.1) }
            let request = Request(
                method: "GET", path: "/v1", headers: headers, peer: peer, caller: Caller(user: 0, access: .owner))
            return (try? guarding.checkHead(request, isOpen: false)) != nil
        }
        let all = ["127.0.0.1", "127.0.0.2", "[::1]", "localhost"]
        for field in [("Sec-Fetch-Site", "none"), ("User-Agent", "Mozilla/5.0 (X11)"), ("Cookie", "a=b")] {
            #expect(all.filter { mayCall($0, over: Self.tcp, field) } == names)
        }
        let own = ["127.0.0.1", "[::1]", "localhost"]
        let isOther = names.contains("127.0.0.2")
        #expect(all.filter { mayCall($0, over: Self.tcp) } == (isOther ? all : own))
        #expect(all.filter { mayCall($0, over: .unix(pid: 1, uid: 0, gid: 0)) } == (isOther ? all : own))
    }

    @Test("the refusal of a name says what to call instead")
    func advice() {
        let hosts = OwnHosts([.tcp(Peer.Endpoint(address: "127.0.0.1", port: 7679))], hasIPv6: true)
        #expect(hosts.refusal(of: "127.0.0.1", fromBrowser: true) == nil)
        #expect(hosts.refusal(of: "localhost", fromBrowser: false) == nil)
        for name in ["localhost", "[::1]"] {
            let refusal = hosts.refusal(of: name, fromBrowser: true)
            #expect(refusal?.contains("address of \(name), and another user") == true)
            #expect(refusal?.hasSuffix("call 127.0.0.1") == true)
        }
        let foreign = hosts.refusal(of: "evil.example", fromBrowser: false)
        #expect(foreign == "the Host field names another machine; call 127.0.0.1")
    }

    @Test(
        "a body with a type other than JSON gets 415, and so does an empty form",
        arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "", nil])
    func contentType(_ type: String?) async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("PATCH", "/v1/orders/a", body: #"{"total":1}"#, headers: ["Content-Type": type])
        #expect(answer.status == 415)
        guard let type else { return }
        #expect(await api.call("POST", "/v1/sync/pause", headers: ["Content-Type": type]).status == 415)
    }

    @Test("a read with a body of any type is told that it takes none, and an empty form that the type is too much")
    func neitherBodyNorType() async throws {
        let api = try await TestAPI.filled()
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let read = await api.call("GET", "/v1/orders", body: "status=ready", headers: form)
        #expect(read.status == 400 && read.json["code"] == "unexpected_body")
        let write = await api.call("POST", "/v1/sync/pause", headers: form)
        #expect(write.status == 415 && write.json["detail"]?.string?.hasPrefix("leave out Content-Type") == true)
    }

    @Test("an unknown caller is refused at the end of the head, and a known one is not")
    func head() throws {
        let api = try TestAPI().api
        func head(_ path: String, _ fields: [(String, String)], user: UInt32?) -> Int? {
            let caller = user.map { Caller(user: $0, access: .owner) } ?? .unknown
            var headers = Headers()
            for (name, value) in fields { headers.append(name: name, value: value) }
            return api.refusal(ofHead: Request(method: "POST", path: path, headers: headers, caller: caller))?.status
        }
        #expect(head("/v1/orders", [("Host", "localhost")], user: nil) == 401)
        #expect(head("/v1/orders", [("Host", "localhost")], user: 1000) == nil)
        #expect(head("/v1/orders", [("Host", "evil.example")], user: 1000) == 403)
        #expect(head("/healthz", [("Host", "localhost")], user: nil) == nil)
    }

    @Test("a call that is open to all takes a body of 1 KiB at most")
    func openBodies() throws {
        let api = try TestAPI().api
        #expect(["/v1/_session", "/healthz"].allSatisfy { api.bodyLimit($0) == 1024 })
        #expect(["/v1/orders", "/v1/_batch"].allSatisfy { api.bodyLimit($0) == nil })
    }

    @Test("browsers and proxies are told to keep nothing and to guess nothing")
    func answerHeaders() async throws {
        let api = try await TestAPI.filled()
        for path in ["/v1/status", "/v1/nothing", "/healthz"] {
            let answer = await api.call("GET", path)
            #expect(answer.header("X-Content-Type-Options") == "nosniff", "\(path)")
            #expect(answer.header("Cache-Control") == "no-store", "\(path)")
            #expect(answer.header("Cross-Origin-Resource-Policy") == "same-origin", "\(path)")
        }
        #expect(await api.call("GET", "/v1/orders/a").header("Cache-Control") == "private, no-cache")
        #expect(
            await api.call("GET", "/v1/status", headers: ["Authorization": nil]).header("Cache-Control") == "no-store")
    }

    private static let tcp = Peer.tcp(
        remote: Peer.Endpoint(address: "127.0.0.1", port: 1), local: Peer.Endpoint(address: "127.0.0.1", port: 2))
}
