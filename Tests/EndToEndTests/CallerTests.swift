import Foundation
import Glibc
import Testing

/// Who may call the built daemon: as real other users, which only root can do.
@Suite("Other users", .serialized, .enabled(if: getuid() == 0, "only root can call as somebody else"))
struct CallerTests {
    /// Somebody on this machine: a user, its group, and its other groups.
    struct Person: CustomTestStringConvertible {
        var user: Int
        var group: Int
        var others: [Int] = []

        var testDescription: String { "user \(user), group \(group), also \(others)" }

        static let root = Person(user: 0, group: 0)
        /// In no database.
        static let stranger = Person(user: 54_321, group: 54_321)
        static let daemon = Person(user: 1, group: 1)
        /// The system group that the test's daemon lets in, and its user.
        static let games = Person(user: 5, group: 60)
        /// As a process of somebody's who was given the group by other means than the database.
        static let player = Person(user: 54_321, group: 54_321, others: [100, 60])
        static let nobody = Person(user: 65_534, group: 65_534)

        /// Calls as this person; the status, or `curl` with its exit status when it got none.
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

    private static let expected: [(Person, String)] = [
        (.root, "200"), (.games, "200"), (.stranger, "401"), (.daemon, "401"), (.nobody, "401"), (.player, "401"),
    ]

    @Test("over TCP root and the group's users are let in, others need the token", arguments: ["127.0.0.1", "[::1]"])
    func tcp(_ host: String) async throws {
        try await LoneDaemon.run(host: host, listen: "group: games") { daemon throws in
            let url = "\(daemon.address)/v1/status"
            for (person, status) in Self.expected { #expect(try person.call([url]) == status, "\(person)") }
            let token = ["-H", "Authorization: Bearer \(try daemon.token)"]
            #expect(try Person.stranger.call(token + [url]) == "200")
            #expect(try Person.stranger.call(["\(daemon.address)/healthz"]) == "200")
            #expect(try Person.stranger.call(["-H", "X-Forwarded-For: 127.0.0.1", url]) == "401")
        }
    }

    @Test("an IPv4-mapped caller is known like any other")
    func mapped() async throws {
        try await LoneDaemon.run(listen: "group: games") { daemon throws in
            let arguments = ["-H", "Host: localhost", "http://[::ffff:127.0.0.1]:\(daemon.port)/v1/status"]
            for (person, status) in Self.expected { #expect(try person.call(arguments) == status, "\(person)") }
        }
    }

    @Test("on the Unix socket the process's groups count too, and others do not even get near")
    func unix() async throws {
        try await LoneDaemon.run(listen: "group: games") { daemon throws in
            let arguments = ["--unix-socket", daemon.socket, "http://localhost/v1/status"]
            for person in [Person.root, .games, .player] { #expect(try person.call(arguments) == "200", "\(person)") }
            for person in [Person.stranger, .daemon] { #expect(try person.call(arguments) == "curl 7", "\(person)") }
            chmod(daemon.socket, 0o666)
            for person in [Person.root, .games, .player] { #expect(try person.call(arguments) == "200", "\(person)") }
            for person in [Person.stranger, .daemon] { #expect(try person.call(arguments) == "401", "\(person)") }
        }
    }

    @Test("where other machines may call, root too needs the token over TCP")
    func remote() async throws {
        try await LoneDaemon.run(host: "0.0.0.0", listen: "allow_remote: true") { daemon throws in
            let url = "http://127.0.0.1:\(daemon.port)/v1/status"
            #expect(try Person.root.call([url]) == "401")
            #expect(try Person.root.call(["-H", "Authorization: Bearer \(try daemon.token)", url]) == "200")
            #expect(try Person.root.call(["--unix-socket", daemon.socket, "http://localhost/v1/status"]) == "200")
        }
    }

    @Test("a stranger who holds every connection it can get does not keep root out")
    func hoarder() async throws {
        try await LoneDaemon.run { daemon throws in
            let hoard = Process()
            let input = Pipe()
            let output = Pipe()
            hoard.executableURL = URL(filePath: "/usr/bin/setpriv")
            let script = """
                for i in $(seq 900); do exec {fd}<>/dev/tcp/127.0.0.1/\(daemon.port) || exit 1; done; echo held; read -r
                """
            hoard.arguments = ["--reuid=54321", "--regid=54321", "--clear-groups", "bash", "-c", script]
            hoard.standardInput = input
            hoard.standardOutput = output
            try hoard.run()
            #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held\n")
            let start = ContinuousClock.now
            #expect(try Person.root.call(["\(daemon.address)/v1/status"]) == "200")
            #expect(ContinuousClock.now - start < .seconds(10), "before the idle connections are closed anyway")
            // It ends with its input; a signal would not reach a shell that was started with that signal ignored.
            try input.fileHandleForWriting.close()
            hoard.waitUntilExit()
        }
    }

    @Test("ten thousand connections of a stranger stop root for less than a second", arguments: [1, 4])
    func flood(processes: Int) async throws {
        try await LoneDaemon.run { daemon throws in
            // Each holds its last hundred.
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
            #expect(slowest < .seconds(1))
            print("ten thousand connections from \(processes) processes: root waited \(slowest) at most")
        }
    }
}
