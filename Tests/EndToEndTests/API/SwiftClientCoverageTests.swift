import Foundation
import RepairminderClient
import Testing

/// The Swift library has every call of the API.
@Suite("Coverage of the Swift library")
struct SwiftClientCoverageTests {
    @Test("each call that the daemon describes is one of the library", .timeLimit(.minutes(5)))
    func everyCall() async throws {
        let recorder = Recorder()
        try await callEverything(RepairminderClient(transport: recorder, retry: .none))
        let made = await recorder.made
        try await Demo.run { demo in
            let description = try await RepairminderClient(try #require(DaemonAddress(demo.api))).daemon.openAPI()
            let paths = try #require(description["paths"]?.object)
            let entities = try #require(description["paths"]?.object).names.filter { $0.contains("{id}/history") }
                .map { String($0.dropFirst("/v1/".count).prefix { $0 != "/" }) }
            var checked = 0
            for path in paths.members where !Self.forBrowsers.contains(path.name) {
                let parts = path.name.split(separator: "/").map(String.init)
                if parts.count > 1, parts[1] != "orders", entities.contains(parts[1]) { continue }
                for method in path.value.object?.names ?? []
                where ["get", "post", "put", "patch", "delete"].contains(method) {
                    checked += 1
                    #expect(made.contains { Self.fits($0, method, parts) }, "\(method) \(path.name)")
                }
            }
            #expect(checked > 40)
        }
    }

    /// The page, its sessions, and what only says that the process runs.
    private static let forBrowsers = ["/", "/v1/_session", "/healthz"]

    private static func fits(_ request: ClientRequest, _ method: String, _ template: [String]) -> Bool {
        let path = request.target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        return request.method.lowercased() == method && path.count == template.count
            && zip(path, template).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }

    private func callEverything(_ client: RepairminderClient) async throws {
        let orders = client.records("orders")
        _ = try await orders.page()
        _ = try await orders.get("o1")
        _ = try await orders.history(of: "o1").first()
        for relation in ["client", "devices", "tickets"] { _ = try await orders.related(of: "o1", relation).first() }
        try await orders.create([:])
        try await orders.create([:], as: "devices", of: "o1")
        try await orders.create([:], as: "tickets", of: "o1")
        try await orders.update("o1", [:])
        try await orders.replace("o1", with: [:])
        try await orders.delete("o1")
        try await client.run(Batch())
        _ = try await client.search("ada")
        try await callQueue(client)
        try await callDaemon(client.daemon)
        _ = try await client.changes.position()
        var events = client.changes.follow(from: .oldest).makeAsyncIterator()
        _ = try await events.next()
    }

    private func callQueue(_ client: RepairminderClient) async throws {
        _ = try await client.queue.count()
        _ = try await client.queue.list().first()
        _ = try await client.queue.change(1)
        try await client.queue.retry(1)
        try await client.queue.retryAll()
        try await client.queue.correct(1, [:])
        try await client.queue.discard(1)
        _ = try await client.conflicts.list().first()
        _ = try await client.conflicts.get(1)
        try await client.conflicts.resolve(1, for: .local)
        try await client.conflicts.undo(1)
        _ = try await client.reminders.list().first()
        _ = try await client.reminders.get(1)
        try await client.reminders.dismiss(1)
        try await client.reminders.snooze(1, for: .seconds(60))
    }

    private func callDaemon(_ daemon: Daemon) async throws {
        _ = try await daemon.status()
        try await daemon.sync()
        try await daemon.pause()
        try await daemon.resume()
        _ = try await daemon.drift()
        _ = try await daemon.activity()
        _ = try await daemon.findings()
        _ = try await daemon.dashboard()
        _ = try await daemon.hooks()
        _ = try await daemon.hook("label")
        for action in Daemon.HookAction.allCases { try await daemon.hook("label", action) }
        _ = try await daemon.index()
        _ = try await daemon.schema()
        _ = try await daemon.schema(of: "orders")
        _ = try await daemon.openAPI()
        _ = try await daemon.metrics()
        _ = try await daemon.isReady()
        _ = try await daemon.signInWays()
        _ = try await daemon.beginSignIn(way: "password")
    }
}

/// Answers every request with something that fits every call, and remembers the requests.
private actor Recorder: ClientTransport {
    private(set) var made: [ClientRequest] = []

    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        made.append(request)
        let document = #"{"data":[],"results":[],"state":"idle","id":1,"seq":1,"next":1,"epoch":"e"}"#
        let isStream = request.target.hasPrefix("/v1/events")
        return ClientResponse(
            status: 200, body: ResponseBody(Array((isStream ? "id: e-1\ndata: \(document)\n\n" : document).utf8)))
    }
}
