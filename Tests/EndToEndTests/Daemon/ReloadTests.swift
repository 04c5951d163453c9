import Foundation
import Glibc
import JSONText
import TestSupport
import Testing

/// SIGHUP, tested with the built daemon.
@Suite("Reloading the configuration", .serialized, .timeLimit(.minutes(10)))
struct ReloadTests {
    @Test(
        "a valid configuration and schema take effect, the queue is kept, and the service manager gets the start time")
    func good() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            _ = try await daemon.program.line(containing: "opened the cache")
            #expect(try await daemon.call("POST", "/v1/orders", JSONText.object(["client_id": "c1"])).status == 201)
            #expect(try await daemon.call("GET", "/v1/clients?shoe_size=42").status == 400)
            try daemon.files.configure(more: "log: { format: json }") {
                $0.replacing(
                    "order_count: { type: integer, derive: { count: orders } }", with: "shoe_size: { type: integer }")
            }
            let before = Self.monotonicTime()
            let messages = try await daemon.reload()
            let after = Self.monotonicTime()
            let began = try #require(messages.compactMap { $0.firstMatch(of: /MONOTONIC_USEC=([0-9]+)/) }.first)
            #expect((before...after).contains(try #require(Int(began.1))))
            #expect(try await daemon.call("GET", "/v1/clients?shoe_size=42").status == 200)
            #expect(try await daemon.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
            #expect(try await daemon.program.line(containing: "opened the cache").hasPrefix("{"))
        }
    }

    @Test(
        "an invalid configuration is refused with a reason and changes nothing until it is corrected",
        arguments: [
            ("retry: { base: soon }", "retry.base: \"soon\" is not valid"),
            ("secret_key_file: /none", "secret_key_file"),
        ])
    func bad(more: String, reason: String) async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            let connection = try RawConnection(port: try await daemon.port())
            #expect(try connection.exchange(Self.status) == 200)
            try daemon.files.configure(more: more)
            let messages = try await daemon.reload()
            #expect(
                messages.contains { $0.hasPrefix("STATUS=the new configuration is invalid: ") && $0.contains(reason) })
            #expect(try await daemon.program.line(containing: "is invalid").contains(" error daemon: "))
            // Nothing was interrupted: the same connection still works.
            #expect(try connection.exchange(Self.status) == 200)
            let status = try await daemon.manager.message(containing: "STATUS=new configuration rejected")
            #expect(status.contains("signed in") && status.contains("0 pending"))
            try daemon.files.configure()
            let before = await daemon.manager.received.count
            _ = try await daemon.reload()
            _ = try await daemon.manager.message(containing: "STATUS=not set up", from: before)
        }
    }

    @Test("a reload does not end a pause")
    func paused() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            #expect(try await daemon.call("POST", "/v1/sync/pause").status == 200)
            try daemon.files.configure(more: "log: { format: json }")
            _ = try await daemon.reload()
            #expect(try await daemon.call("GET", "/v1/status").body["state"]?.string == "paused")
        }
    }

    @Test("an invalid schema or another state_dir is refused too")
    func others() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            try daemon.files.configure { $0.replacing("type: integer", with: "type: number of things") }
            #expect(try await daemon.reload().contains { $0.contains("shop.yaml:") })
            try daemon.files.configure()
            let config = try String(contentsOfFile: daemon.files.config, encoding: .utf8)
            try config.replacing("/state\n", with: "/elsewhere\n")
                .write(toFile: daemon.files.config, atomically: true, encoding: .utf8)
            #expect(try await daemon.reload().contains { $0.contains("requires a restart") })
            #expect(!FileManager.default.fileExists(atPath: daemon.folder.path + "/elsewhere"))
            #expect(try await daemon.call("GET", "/v1/orders").status == 200)
        }
    }

    @Test(
        "with another schema than the pinned one, the former stays in use and the status says so until that is corrected"
    )
    func pinned() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            let folder = daemon.folder.appending(path: "conf.d")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let pin = folder.appending(path: "10-pin.yaml")
            try Data("schema: { version: 7 }".utf8).write(to: pin)
            #expect(try await daemon.reload().contains { $0.contains("is not the pinned one") })
            let warnings = try await daemon.call("GET", "/v1/status").body["warnings"]?.elements ?? []
            #expect(warnings.first?.string?.contains("10-pin.yaml:1: schema.version: the schema ") == true)
            try FileManager.default.removeItem(at: pin)
            _ = try await daemon.reload()
            #expect(try await daemon.call("GET", "/v1/status").body["warnings"]?.elements.isEmpty == true)
        }
    }

    @Test("a signed bundle takes effect, and one whose signature does not fit changes nothing, not even at a start")
    func bundle() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure(more: Self.bundle($0.url)) }) { daemon throws in
            let (folder, manager) = (daemon.folder.path, daemon.manager)
            func inUse() async throws -> String? {
                let metrics = try await daemon.call("GET", "/metrics").body.string ?? ""
                return metrics.firstMatch(of: /site="([^"]*)",schema_hash="[^"]*",bundle="([0-9]+)"/).map {
                    "\($0.1) \($0.2)"
                }
            }
            _ = try await manager.message(containing: "READY=1")
            #expect(try await inUse() == "shop-12 12")
            let config = daemon.files.config
            try Self.write(.thirteen, to: folder + "/new.yaml")
            let install = ["bundle", "install", folder + "/new.yaml", "--config", config]
            #expect(try await Program.run("repairminder-sync", install).output.hasPrefix("installed bundle 13; "))
            _ = try await daemon.reload()
            #expect(try await inUse() == "shop-13 13")
            try Data("bundle: 14\nconfig: { site: evil }\n".utf8).write(to: URL(filePath: folder + "/bundle.yaml"))
            #expect(try await daemon.reload().contains { $0.contains("the signature does not fit") })
            #expect(try await inUse() == "shop-13 13")
            let warnings = try await daemon.call("GET", "/v1/status").body["warnings"]?.elements ?? []
            #expect(warnings.first?.string?.contains("bundle.yaml: the signature does not fit") == true)
            await daemon.program.signal(SIGTERM)
            #expect(await daemon.program.finish().status == 0)
            let restarted = try Program("repairminder-sync", ["run", "--config", config])
            _ = try await restarted.line(containing: "using bundle 12, the one before")
            await restarted.signal(SIGKILL)
            _ = await restarted.finish()
        }
    }

    /// Puts a signed bundle into the folder, and returns the setting that names it.
    private static func bundle(_ folder: URL) throws -> String {
        try write(.twelve, to: folder.path + "/bundle.yaml")
        return "bundle: { file: bundle.yaml, public_key: \(SignedBundle.key) }"
    }

    private static func write(_ bundle: SignedBundle, to path: String) throws {
        try bundle.text.write(toFile: path, atomically: true, encoding: .utf8)
        try bundle.signature.write(toFile: path + ".minisig", atomically: true, encoding: .utf8)
    }

    @Test("after a schema that the cache cannot be migrated to, the working one stays in use")
    func unfit() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            try daemon.files.configure {
                $0.replacing("  clients:\n", with: "  clients:\n    key: email\n")
            }
            let messages = try await daemon.reload()
            #expect(messages.contains { $0.hasPrefix("STATUS=the new configuration is invalid: ") })
            #expect(try await daemon.call("GET", "/v1/clients").status == 200)
        }
    }

    @Test("signals that come during a reload are one more reload, and a signal to stop does not wait behind them")
    func storm() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            let sent = 300
            for _ in 0..<sent {
                await daemon.program.signal(SIGHUP)
                try await waitUntilTaken(by: await daemon.program.pid)
            }
            await daemon.program.signal(SIGTERM)
            let (status, output) = await daemon.program.finish()
            let reloads = output.split(separator: "\n").count { $0.contains("reloaded the configuration") }
            #expect(status == 0 && reloads < sent / 2, "\(status), \(reloads) reloads")
        }
    }

    /// Returns once the process has taken a SIGHUP, of which the kernel keeps only one (proc_pid_status(5)).
    private func waitUntilTaken(by process: Int32) async throws {
        let path = "/proc/\(process)/status"
        while try String(contentsOfFile: path, encoding: .utf8).contains(/ShdPnd:\s*[0-9a-f]+[13579bdf]\n/) {
            await Task.yield()
        }
    }

    @Test("a request in progress is finished with the old configuration, and a later one is answered with the new")
    func inFlight() async throws {
        try await SupervisedDaemon.run(setup: { try $0.configure() }) { daemon throws in
            _ = try await daemon.manager.message(containing: "READY=1")
            let port = try await daemon.port()
            let half = try RawConnection(port: port)
            let body = #"{"client_id":"c1"}"#
            half.send(
                """
                POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: \(body.utf8.count)\r\n\r\n{
                """)
            // Once another connection is answered, the server has read the head.
            #expect(try await daemon.call("GET", "/healthz").status == 200)
            await daemon.program.signal(SIGHUP)
            _ = try await daemon.program.line(containing: "reloaded the configuration")
            let between = try queuedConnection(port)
            #expect(try half.exchange(String(body.dropFirst())) == 201)
            #expect(try between.exchange("") == 200)
            #expect(try await daemon.call("GET", "/v1/pending/count").body["pending"]?.integer == 1)
        }
    }

    /// A connection whose request waits for the next server. The old one takes connections until it has stopped
    /// accepting, and answers or closes them at once.
    private func queuedConnection(_ port: UInt16) throws -> RawConnection {
        while true {
            let connection = try RawConnection(port: port)
            connection.send(Self.status)
            if connection.isQuiet(for: .milliseconds(300)) { return connection }
        }
    }

    private static let status = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// The kernel's monotonic clock, in microseconds.
    private static func monotonicTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
