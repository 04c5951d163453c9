import Foundation
import TestSupport
import Testing

/// The settings of the service that its security depends on.
@Suite struct UnitFileTests {
    private func lines() throws -> [Substring] {
        try ProjectFiles.text("systemd/common.conf").split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(
        "memory is limited, and a decoder that is killed leaves the daemon running",
        arguments: ["MemoryMax=384M", "MemoryHigh=336M", "OOMPolicy=continue", "LimitCORE=0", "NoNewPrivileges=yes"])
    func settings(_ line: Substring) throws {
        #expect(try lines().contains(line))
    }

    @Test(
        "the services meet no other program in /dev/shm and /run/lock, and ask none over D-Bus",
        arguments: ["systemd/common.conf", feed])
    func sharedFolders(_ unit: String) throws {
        let lines = try ProjectFiles.text(unit).split(separator: "\n")
        #expect(lines.contains("TemporaryFileSystem=/dev/shm:mode=1777"))
        #expect(lines.contains("InaccessiblePaths=-/run/lock"))
        #expect(lines.contains("InaccessiblePaths=-/run/dbus"))
    }

    @Test(
        "no service can get around its filters by io_uring, or take the machine's swap",
        arguments: ["systemd/common.conf", feed])
    func evasion(_ unit: String) throws {
        let lines = try ProjectFiles.text(unit).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("SystemCallFilter=~") && $0.hasSuffix("@aio userfaultfd") })
        #expect(lines.contains("MemorySwapMax=128M"))
    }

    private static let feed = "docs/examples/repairminder-sync-feed.service"

    /// `DaemonUser` knows them by it.
    @Test("the user of each instance has a name that begins as the daemons expect")
    func instances() throws {
        let lines = try ProjectFiles.text("systemd/repairminder-sync@.service").split(separator: "\n")
        #expect(lines.contains("User=rmsync-%i"))
    }

    @Test("the user of the feed's service has no name of a daemon, which no other daemon would let in")
    func feedUser() throws {
        let lines = try ProjectFiles.text(Self.feed).split(separator: "\n")
        let user = try #require(lines.first { $0.hasPrefix("User=") }).dropFirst("User=".count)
        #expect(!user.hasPrefix("rmsync-") && user != "repairminder-sync")
        #expect(lines.contains("SupplementaryGroups=repairminder"))
    }

    @Test("the service of the feed names the authorities that it trusts: libpq finds them in a home directory only")
    func feedAuthorities() throws {
        let lines = try ProjectFiles.text(Self.feed).split(separator: "\n")
        let start = try #require(lines.first { $0.hasPrefix("ExecStart=") })
        #expect(start.contains("sslmode=verify-full&sslrootcert=/"))
    }

    @Test("each group of settings has its reason in a comment")
    func reasons() throws {
        var isExplained = false
        for line in try lines() where !line.hasPrefix("[") {
            if line.isEmpty { isExplained = false }
            if line.hasPrefix("#") { isExplained = true }
            if line.contains("="), !line.hasPrefix("#") { #expect(isExplained, "\(line)") }
        }
    }

    @Test("systemd-analyze rates the service 1.4 or better", .enabled(if: Self.hasAnalyzer, "systemd is not installed"))
    func exposure() throws {
        let folder = try TemporaryFolder()
        let unit = try folder.write(
            ProjectFiles.text("systemd/repairminder-sync.service") + ProjectFiles.text("systemd/common.conf"),
            to: "repairminder-sync.service")
        let process = Process()
        process.executableURL = URL(filePath: Self.analyzer)
        process.arguments = ["security", "--offline=yes", "--no-pager", "--threshold=14", unit]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }

    private static let analyzer = "/usr/bin/systemd-analyze"
    private static let hasAnalyzer = FileManager.default.isExecutableFile(atPath: analyzer)
}
