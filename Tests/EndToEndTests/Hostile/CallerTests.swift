import Foundation
import Glibc
import Testing

/// Who may call the built daemon, tested as real users, which needs root.
@Suite("Other users", .serialized, .enabled(if: getuid() == 0, "only root can call as another user"))
struct CallerTests {
    /// A user of this machine with its group and other groups.
    struct User: CustomTestStringConvertible {
        var user: Int
        var group: Int
        var others: [Int] = []

        var testDescription: String { "user \(user), group \(group), also \(others)" }

        static let root = User(user: 0, group: 0)
        /// A user that is in no user database.
        static let stranger = User(user: 54_321, group: 54_321)
        static let daemon = User(user: 1, group: 1)
        /// The user of the system group that the daemon admits here.
        static let games = User(user: 5, group: 60)
        /// A process that has the group although the group database does not list its user.
        static let player = User(user: 54_321, group: 54_321, others: [100, 60])
        static let nobody = User(user: 65_534, group: 65_534)

        /// Calls as this user; returns the status, or `curl` with its exit status when there is none.
        func call(_ arguments: [String]) throws -> String {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            let groups =
                others.isEmpty ? "--clear-groups" : "--groups=\(others.map(String.init).joined(separator: ","))"
            process.arguments =
                ["--reuid=\(user)", "--regid=\(group)", groups, "curl", "-q", "-s", "-g", "-o", "/dev/null"]
                + ["--max-time", "20", "-w", "%{http_code}"] + arguments
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return process.terminationStatus == 0 ? text : "curl \(process.terminationStatus)"
        }
    }

    private static let expected: [(User, String)] = [
        (.root, "200"), (.games, "200"), (.stranger, "401"), (.daemon, "401"), (.nobody, "401"), (.player, "401"),
    ]

    @Test(
        "over TCP, root and the group's users are admitted; others need the token", arguments: ["127.0.0.1", "[::1]"])
    func tcp(_ host: String) async throws {
        try await OfflineDaemon.run(host: host, listen: "group: games") { daemon throws in
            let url = "\(daemon.address)/v1/status"
            for (user, status) in Self.expected { #expect(try user.call([url]) == status, "\(user)") }
            let token = ["-H", "Authorization: Bearer \(try daemon.token)"]
            #expect(try User.stranger.call(token + [url]) == "200")
            #expect(try User.stranger.call(["\(daemon.address)/healthz"]) == "200")
            #expect(try User.stranger.call(["-H", "X-Forwarded-For: 127.0.0.1", url]) == "401")
        }
    }

    @Test("a daemon at 127.0.0.1 alone is not called by localhost, where another user could have the page at [::1]")
    func localhost() async throws {
        try await OfflineDaemon.run(host: "127.0.0.1") { daemon throws in
            let page = ["-H", "Sec-Fetch-Site: same-origin", "-H", "Host: localhost:\(daemon.port)"]
            #expect(try User.root.call(page + ["\(daemon.address)/v1/status"]) == "403")
            #expect(try User.root.call(["\(daemon.address)/v1/status"]) == "200")
        }
    }

    @Test("an IPv4-mapped caller is recognised like any other")
    func mapped() async throws {
        try await OfflineDaemon.run(listen: "group: games") { daemon throws in
            let arguments = ["-H", "Host: localhost", "http://[::ffff:127.0.0.1]:\(daemon.port)/v1/status"]
            for (user, status) in Self.expected { #expect(try user.call(arguments) == status, "\(user)") }
        }
    }

    @Test("on the Unix socket the process's groups count too, and others cannot connect")
    func unix() async throws {
        try await OfflineDaemon.run(listen: "group: games") { daemon throws in
            let arguments = ["--unix-socket", daemon.socket, "http://localhost/v1/status"]
            for user in [User.root, .games, .player] { #expect(try user.call(arguments) == "200", "\(user)") }
            for user in [User.stranger, .daemon] { #expect(try user.call(arguments) == "curl 7", "\(user)") }
            chmod(daemon.socket, 0o666)
            for user in [User.root, .games, .player] { #expect(try user.call(arguments) == "200", "\(user)") }
            for user in [User.stranger, .daemon] { #expect(try user.call(arguments) == "401", "\(user)") }
        }
    }

    @Test("when other machines may call, root needs the token over TCP too")
    func remote() async throws {
        let keys = "allow_remote: true, allow_plain_http: true"
        try await OfflineDaemon.run(host: "0.0.0.0", listen: keys) { daemon throws in
            let url = "http://127.0.0.1:\(daemon.port)/v1/status"
            #expect(try User.root.call([url]) == "401")
            #expect(try User.root.call(["-H", "Authorization: Bearer \(try daemon.token)", url]) == "200")
            #expect(try User.root.call(["--unix-socket", daemon.socket, "http://localhost/v1/status"]) == "200")
        }
    }

    @Test("root needs the token over TCP where the configuration says so", arguments: ["reads", "never"])
    func tokenAlways(_ choice: String) async throws {
        try await OfflineDaemon.run(listen: "tcp_without_token: \(choice)") { daemon throws in
            let url = "http://127.0.0.1:\(daemon.port)/v1"
            let pause = ["-X", "POST", "\(url)/sync/pause"]
            let token = ["-H", "Authorization: Bearer \(try daemon.token)"]
            #expect(try User.root.call(["\(url)/status"]) == (choice == "reads" ? "200" : "401"))
            #expect(try User.root.call(pause) == "401")
            #expect(try User.root.call(token + pause) == "200")
            #expect(
                try User.root.call([
                    "--unix-socket", daemon.socket, "-X", "POST", "http://localhost/v1/sync/pause",
                ]) == "200")
        }
    }

    @Test("another user that holds every connection it can get does not lock root out")
    func hoarder() async throws {
        try await OfflineDaemon.run { daemon throws in
            let script = """
                for i in $(seq 900); do exec {fd}<>/dev/tcp/127.0.0.1/\(daemon.port) || exit 1; done; echo held; read -r
                """
            let (hoard, input, output) = try Self.startAsStranger(["bash", "-c", script])
            #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held\n")
            let start = ContinuousClock.now
            #expect(try User.root.call(["\(daemon.address)/v1/status"]) == "200")
            #expect(ContinuousClock.now - start < .seconds(10), "before the idle connections are closed anyway")
            // It ends with its input; the shell may have been started with the signal ignored.
            try input.fileHandleForWriting.close()
            hoard.waitUntilExit()
        }
    }

    @Test("another user whose connections are all busy does not lock out a caller with the token")
    func busyHoarder() async throws {
        try await OfflineDaemon.run { daemon throws in
            let script = #"""
                trap '' PIPE
                connect() { exec {fd}<>/dev/tcp/127.0.0.1/\#(daemon.port) && held[$1]=$fd; }
                for one in $(seq 128); do connect $one || exit 1; done
                # Until its input ends; after a timeout the status is above 128.
                while read -r -t 0.2; [ $? -gt 128 ]; do
                    for one in "${!held[@]}"; do
                        fd=${held[$one]}
                        printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&$fd && read -r -t 5 <&$fd && continue
                        exec {fd}>&-
                        connect $one
                    done
                    echo busy
                done 2>/dev/null
                """#
            let (hoard, input, output) = try Self.startAsStranger(["bash", "-c", script])
            let first = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            #expect(first.hasPrefix("busy\n"))
            let call = ["-H", "Authorization: Bearer \(try daemon.token)", "\(daemon.address)/v1/status"]
            for _ in 0..<5 { #expect(try User(user: 54_322, group: 54_322).call(call) == "200") }
            try input.fileHandleForWriting.close()
            hoard.waitUntilExit()
        }
    }

    /// Runs a command as a user without any right here.
    private static func startAsStranger(
        _ command: [String]
    ) throws -> (process: Process, input: Pipe, output: Pipe) {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        process.arguments = ["--reuid=54321", "--regid=54321", "--clear-groups"] + command
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        return (process, input, output)
    }

    #if DEBUG
        /// A daemon without optimization takes that much longer to admit a connection.
        private static let delay = Duration.seconds(5)
    #else
        private static let delay = Duration.seconds(1)
    #endif

    @Test("ten thousand connections of another user delay root by less than a second", arguments: [1, 4])
    func flood(processes: Int) async throws {
        try await OfflineDaemon.run { daemon throws in
            // Each process keeps its last hundred connections open.
            let script = """
                for i in $(seq \(10_000 / processes)); do
                    eval "exec $((100 + i % 100))<>/dev/tcp/127.0.0.1/\(daemon.port)" || exit 1
                done
                """
            let flood = (0..<processes).map { _ in
                let process = Process()
                process.executableURL = URL(filePath: "/usr/bin/setpriv")
                process.arguments = ["--reuid=54321", "--regid=54321", "--clear-groups", "bash", "-c", script]
                return process
            }
            for process in flood { try process.run() }
            var slowest = Duration.zero
            repeat {
                let start = ContinuousClock.now
                #expect(try daemon.status(HostileRequest.smuggled) == 200)
                slowest = max(slowest, .now - start)
            } while flood.contains(where: \.isRunning)
            #expect(flood.map(\.terminationStatus) == [Int32](repeating: 0, count: processes))
            #expect(slowest < Self.delay)
            print("ten thousand connections from \(processes) processes: root waited \(slowest) at most")
        }
    }
}
