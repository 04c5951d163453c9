import JSONText
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("What doctor reads in the daemon's status")
struct DaemonChecksTests {
    private func findings(_ status: String) throws -> [Finding] {
        var configuration = try TemporaryFolder().configuration()
        configuration.file = "/home/ada/config.yaml"
        return StatusChecks(status: try JSONText(parsing: status), configuration: configuration).findings()
    }

    @Test("a healthy daemon is one finding without advice")
    func healthy() throws {
        let status = #"{"state":"idle","pending":2,"failed":0,"error":null,"missing":null,"warnings":[]}"#
        #expect(try findings(status) == [.ok("daemon", "it runs: idle, 2 pending, 0 failed")])
    }

    @Test("what the daemon still needs, its warnings and failed changes are warnings")
    func needs() throws {
        let status = #"""
            {"state":"idle","pending":0,"failed":1,"missing":"not signed in","warnings":["plain HTTP"]}
            """#
        let found = try findings(status)
        #expect(found.map(\.level) == [.warning, .warning, .warning])
        #expect(found.dropFirst().map(\.message) == ["not signed in", "plain HTTP"])
        #expect(found[0].advice == "run repairminder-sync queue --state failed --config /home/ada/config.yaml")
    }

    @Test(
        "why it cannot send says what to do: sign in, or settle it with the upstream",
        arguments: [
            ("needs_sign_in", "sign in again: repairminder-sync login --config /home/ada/config.yaml"),
            ("refuses_account", AccountAdvice.refused),
            ("none", "run repairminder-sync status --config /home/ada/config.yaml"),
        ])
    func errors(member: String, advice: String) throws {
        let status = #"""
            {"state":"error","pending":1,"failed":0,"error":"why","upstream":{"reachable":true,"\#(member)":true}}
            """#
        let found = try findings(status)
        #expect(found.map(\.message) == ["it runs: error, 1 pending, 0 failed; why"])
        #expect(found.map(\.advice) == [advice])
    }

    @Test("what it cannot settle by itself is a warning, each with what to do")
    func details() throws {
        let status = #"""
            {"state":"idle","pending":0,"failed":0,"parked_deliveries":2,
             "entities":{"orders":{"error":"the list is cut","held":null},"clients":{"error":null,"held":"it was empty"}},
             "upstream":{"batches":"refused","budget":{"waiting":1}},
             "signals":[{"path":"/events","error":"404"},{"path":"/calls","error":null}]}
            """#
        let found = try findings(status).dropFirst()
        #expect(found.map(\.check) == ["lists", "lists", "hooks", "limits", "batches", "signals"])
        #expect(found.allSatisfy { $0.level == .warning && $0.advice != nil })
        let advice = found.compactMap(\.advice)
        #expect(
            advice.contains(
                "if that is right, run repairminder-sync sync --full --delete clients --config /home/ada/config.yaml"))
        #expect(advice.contains("retry or discard them: see repairminder-sync hooks --config /home/ada/config.yaml"))
        let messages = found.map(\.message)
        #expect(messages.contains("orders: the list is cut") && messages.contains("2 deliveries failed too often"))
        #expect(messages.contains("1 request waits for the upstream's limit"))
    }

    @Test(
        "the command that starts the daemon is that of its service, or of the program",
        arguments: [
            (nil, "repairminder-sync run"),
            ("/home/ada/config.yaml", "repairminder-sync run --config /home/ada/config.yaml"),
            ("/etc/sync/config.yaml", "sudo systemctl start repairminder-sync"),
            ("/etc/sync/propdocs.yaml", "sudo systemctl start repairminder-sync@propdocs"),
            ("/etc/sync/schemas/shop.yaml", "repairminder-sync run --config /etc/sync/schemas/shop.yaml"),
            ("/etc/sync", "repairminder-sync run --config /etc/sync"),
            ("/home/ada/my shop.yaml", "repairminder-sync run --config '/home/ada/my shop.yaml'"),
        ] as [(String?, String)])
    func start(file: String?, command: String) throws {
        var configuration = try TemporaryFolder().configuration()
        configuration.file = file
        #expect(configuration.startCommand(systemFolder: "/etc/sync") == command)
    }

    @Test(
        "the command that restores a backup stops the service, or is that of the program",
        arguments: [
            (nil, "repairminder-sync restore /b.db"),
            ("/home/ada/c.yaml", "repairminder-sync restore /b.db --config /home/ada/c.yaml"),
            (
                "/etc/sync/config.yaml",
                "sudo systemctl stop repairminder-sync && sudo repairminder-sync restore /b.db; "
                    + "sudo systemctl start repairminder-sync"
            ),
            (
                "/etc/sync/propdocs.yaml",
                "sudo systemctl stop repairminder-sync@propdocs && sudo repairminder-sync restore /b.db "
                    + "--config /etc/sync/propdocs.yaml; sudo systemctl start repairminder-sync@propdocs"
            ),
        ] as [(String?, String)])
    func restore(file: String?, command: String) throws {
        var configuration = try TemporaryFolder().configuration()
        configuration.file = file
        #expect(configuration.restoreCommand("/b.db", systemFolder: "/etc/sync") == command)
    }
}
