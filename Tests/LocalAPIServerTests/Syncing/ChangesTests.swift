import EntitySchema
import JSONText
import SQLiteStore
import SocketServer
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Watching the change log", .serialized)
struct ChangesTests {
    private static func pull(_ api: TestAPI, _ keys: Range<Int>) async throws {
        let records = "[" + keys.map { "{\"id\":\"k\($0)\"}" }.joined(separator: ",") + "]"
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
    }

    @Test("a page has the changes and the next position")
    func page() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/changes?since=0&limit=1")
        #expect(answer.status == 200)
        #expect(answer.json["epoch"]?.string == api.store.epoch)
        #expect(answer.json["data"]?.elements.map { $0["id"]?.string } == ["a"])
        #expect(answer.json["next"]?.integer == 1)
        #expect(answer.header("Cache-Control") == "no-store")
        let now = await api.call("GET", "/v1/changes").json
        #expect(now["data"]?.elements.isEmpty == true && now["next"]?.integer == 2)
    }

    @Test(
        "a position that was pruned, is not reached yet or belongs to another epoch gets 410",
        arguments: ["since=0", "since=99", "since=2&epoch=other"])
    func gone(_ query: String) async throws {
        let api = try await TestAPI.filled()
        try await Self.pull(api, 0..<1)
        _ = try await api.store.pruneLog(to: LogLimits(age: .seconds(1), count: 1), at: TestAPI.now)
        let answer = await api.call("GET", "/v1/changes?\(query)")
        #expect(answer.status == 410)
        #expect(answer.header("Content-Type") == "application/problem+json")
        #expect(await api.call("GET", "/v1/events?\(query)").status == 410)
    }

    @Test(
        "invalid parameters are refused",
        arguments: [
            ("since=-1", 400), ("since=x", 400), ("wait=61", 400), ("limit=0", 400), ("kind=eaten", 400),
            ("entity=cakes", 404), ("sinse=1", 400),
        ])
    func refused(_ query: String, _ status: Int) async throws {
        #expect(await (try TestAPI()).call("GET", "/v1/changes?\(query)").status == status)
    }

    @Test("a wait without a change is answered with an empty page in time")
    func timeUp() async throws {
        let api = try TestAPI(clock: FastClock())
        let answer = await api.call("GET", "/v1/changes?since=0&wait=60")
        #expect(answer.json["data"]?.elements.isEmpty == true && answer.json["next"]?.integer == 0)
        #expect(api.store.signal.waiterCount == 0)
    }

    @Test("200 waiting callers all get one change")
    func manyPollers() async throws {
        let api = try TestAPI()
        try await APISocket.run(api) { server in
            let pollers = try (0..<200).map { _ in try server.get("/v1/changes?since=0&wait=60") }
            while api.store.signal.waiterCount < 200 { await Task.yield() }
            try await Self.pull(api, 0..<1)
            for poller in pollers {
                #expect(try poller.receive(through: "}],\"next\":1}").contains("\"id\":\"k0\""))
            }
        }
    }

    @Test("a change that the filter excludes ends no wait")
    func filteredWait() async throws {
        let api = try TestAPI()
        try await APISocket.run(api) { server in
            let poller = try server.get("/v1/changes?since=0&wait=60&entity=messages")
            while api.store.signal.waiterCount < 1 { await Task.yield() }
            try await Self.pull(api, 0..<1)
            let message = PulledPage(entity: "messages", records: #"[{"id":"m","order_id":"k0","text":"t"}]"#)
            _ = try await api.store.apply(message, at: TestAPI.now)
            #expect(try poller.receive(through: "\"next\":2}").contains("\"id\":\"m\""))
        }
    }

    @Test("a disconnected caller stops waiting")
    func callerGone() async throws {
        let api = try TestAPI()
        try await APISocket.run(api) { server in
            var poller: RawConnection? = try server.get("/v1/changes?since=0&wait=60")
            while api.store.signal.waiterCount < 1 { await Task.yield() }
            withExtendedLifetime(poller) {}
            poller = nil
            while api.store.signal.waiterCount > 0 { await Task.yield() }
        }
    }

    @Test("a stopping server answers all waiting callers at once and ends all streams")
    func stop() async throws {
        let api = try TestAPI()
        var limits = ServerLimits()
        // Nothing may wait for this limit.
        limits.shutdown = .seconds(600)
        try await APISocket.run(api, limits: limits) { server in
            let pollers = try (0..<5).map { _ in try server.get("/v1/changes?since=0&wait=60") }
            let stream = try server.get("/v1/events")
            _ = try stream.receive(through: "retry: 3000\n\n")
            while api.store.signal.waiterCount < 6 { await Task.yield() }
            server.stop()
            for poller in pollers { #expect(try poller.receiveAll().hasSuffix("\"data\":[],\"next\":0}")) }
            _ = try stream.receiveAll()
        }
    }

    // MARK: Streams

    @Test("a stream has past changes, then new ones")
    func stream() async throws {
        let api = try await TestAPI.filled()
        try await APISocket.run(api) { server in
            let stream = try server.get("/v1/events?since=1")
            let head = try stream.receive(through: "\r\n\r\n")
            #expect(
                head.contains("Content-Type: text/event-stream\r\n") && head.contains("Cache-Control: no-store\r\n"))
            let past = try stream.receive(through: "\"change_id\":null}\n\n")
            #expect(past.contains("id: \(api.store.epoch)-2\nevent: upserted\ndata: {\"seq\":2,"))
            while api.store.signal.waiterCount < 1 { await Task.yield() }
            try await Self.pull(api, 0..<1)
            #expect(try stream.receive(through: "\"change_id\":null}\n\n").contains("\"id\":\"k0\""))
        }
    }

    @Test("Last-Event-ID overrides since, and one of another epoch gets 410")
    func lastEventID() async throws {
        let api = try await TestAPI.filled()
        try await APISocket.run(api) { server in
            let stream = try server.get("/v1/events?since=0", "Last-Event-ID: \(api.store.epoch)-1")
            #expect(try !stream.receive(through: "\"seq\":2,").contains("\"seq\":1,"))
            let other = try server.get("/v1/events", "Last-Event-ID: other-1")
            #expect(try other.receive(through: "\r\n").contains(" 410 "))
            let broken = try server.get("/v1/events", "Last-Event-ID: 12")
            #expect(try broken.receive(through: "\r\n").contains(" 400 "))
            let one = "Last-Event-ID: \(api.store.epoch)-1"
            let doubled = try server.get("/v1/events", one, one)
            #expect(try doubled.receive(through: "\r\n").contains(" 400 "))
        }
    }

    @Test("an idle stream sends comments with the position reached")
    func heartbeat() async throws {
        let api = try TestAPI(clock: FastClock())
        try await Self.pull(api, 0..<3)
        try await APISocket.run(api) { server in
            let stream = try server.get("/v1/events?since=0&kind=conflict")
            #expect(try stream.receive(through: ": \nid: \(api.store.epoch)-3\n\n").contains("retry: 3000\n\n"))
        }
    }

    @Test("a stream beyond the limit is refused; closing one makes room")
    func limit() async throws {
        let api = try TestAPI(places: 1)
        try await APISocket.run(api) { server in
            var first: RawConnection? = try server.get("/v1/events")
            _ = try first?.receive(through: "retry:")
            let refused = try server.get("/v1/events").receive(through: "\r\n\r\n")
            #expect(refused.contains(" 503 ") && refused.contains("Retry-After:"))
            first = nil
            while api.api.handlers.places.streams.openCount > 0 { await Task.yield() }
            #expect(try server.get("/v1/events").receive(through: "\r\n").contains(" 200 "))
        }
    }

    @Test("one user leaves half of the streams to others; root and the daemon's user may take all")
    func share() async throws {
        let api = try TestAPI(places: 4)
        var answers: [TestAPI.Answer] = []
        func open(_ user: UInt32, _ access: Caller.Access = .member) async -> Int {
            let answer = await api.call("GET", "/v1/events", caller: Caller(user: user, access: access))
            if answer.status == 200 { answers.append(answer) }
            return answer.status
        }
        for status in [200, 200, 503] { #expect(await open(1001) == status) }
        #expect(await open(1002) == 200)
        answers = []
        for status in [200, 200, 200, 200, 503] { #expect(await open(1000, .owner) == status) }
        #expect(api.api.handlers.places.streams.openCount == 4)
        answers = []
        #expect(api.api.handlers.places.streams.openCount == 0)
    }

    @Test("all users together leave some streams to root and the daemon's user")
    func reserved() async throws {
        let api = try TestAPI(places: 32)
        var answers: [TestAPI.Answer] = []
        for (user, access, count) in [(1001, Caller.Access.member, 16), (1002, .member, 14), (1000, .owner, 2)] {
            for number in 0...count {
                let answer = await api.call("GET", "/v1/events", caller: Caller(user: UInt32(user), access: access))
                #expect(answer.status == (number < count ? 200 : 503), "\(number) of \(user)")
                answers.append(answer)
            }
        }
    }

    @Test("a stalled reader is dropped, and the others continue")
    func slowReader() async throws {
        let api = try TestAPI()
        try await Self.pull(api, 0..<4000)
        var limits = ServerLimits()
        // Far more than the other reader needs, even on a busy machine.
        limits.write = .seconds(4)
        try await APISocket.run(api, limits: limits) { server in
            let slow = try server.get("/v1/events?since=0")
            _ = try slow.receive(through: "retry:")
            let quick = try server.get("/v1/events?since=0")
            _ = try quick.receive(through: "\"seq\":4000,")
            while api.api.handlers.places.streams.openCount > 1 { await Task.yield() }
            try await Self.pull(api, 4000..<4001)
            _ = try quick.receive(through: "\"id\":\"k4000\"")
            #expect(try !slow.receiveAll().contains("\"seq\":4000,"))
        }
    }
}
