import Foundation
import Glibc
import Testing

@testable import CallerLookup

@Suite("Caller lookup", .serialized)
struct CallerLookupTests {
    private let lookup = CallerLookup()

    @Test(
        "the owner of a loopback connection is found for all address families",
        arguments: [
            ("127.0.0.1", nil, false), ("::1", nil, false), ("127.0.0.1", "::ffff:127.0.0.1", false),
            ("::", "127.0.0.1", true), ("::", "::ffff:127.0.0.1", true), ("::", "::1", true),
        ] as [(String, String?, Bool)])
    func owner(_ listening: String, _ calling: String?, _ isDualStack: Bool) throws {
        let target = calling ?? listening
        let pair = try LoopbackPair(listening: listening, calling: target, isDualStack: isDualStack)
        #expect(lookup.problem == nil)
        #expect(lookup.credentials(ofPeerOf: pair.accepted) == PeerCredentials(user: getuid()))
    }

    @Test("a caller that has finished sending is still known, one that has closed is unknown and not root")
    func closing() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1")
        shutdown(pair.caller, Int32(SHUT_WR))
        #expect(lookup.credentials(ofPeerOf: pair.accepted)?.user == getuid())
        pair.closeCaller()
        #expect(lookup.credentials(ofPeerOf: pair.accepted) == nil)
    }

    @Test("the caller of a reset connection is unknown")
    func reset() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1")
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(pair.caller, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        pair.closeCaller()
        #expect(lookup.credentials(ofPeerOf: pair.accepted) == nil)
    }

    @Test("over a Unix socket the caller is known with its groups")
    func unix() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { ends.forEach { close($0) } }
        var groups = [gid_t](repeating: 0, count: 256)
        let count = getgroups(Int32(groups.count), &groups)
        let found = try #require(lookup.credentials(ofPeerOf: ends[0]))
        #expect(found.user == getuid())
        #expect(found.groups == [getgid()] + groups.prefix(Int(count)))
    }

    @Test("a descriptor that is not a connected socket has no caller")
    func noSocket() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1")
        #expect(lookup.credentials(ofPeerOf: -1) == nil)
        let unconnected = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(unconnected) }
        #expect(lookup.credentials(ofPeerOf: unconnected) == nil)
        withExtendedLifetime(pair) {}
    }

    @Test(
        "other users are distinguished, and the overflow user is unknown",
        .enabled(if: getuid() == 0, "only root can call as another user"),
        arguments: ["127.0.0.1", "::1"], [("54321", 54321), ("1", 1), ("65534", nil)] as [(String, UInt32?)])
    func otherUsers(_ host: String, _ user: (name: String, expected: UInt32?)) throws {
        let pair = try LoopbackPair(listening: host, connects: false)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        let call = "exec 3<>/dev/tcp/\(host)/\(pair.port) && read -r line <&3"
        process.arguments = ["--reuid=\(user.name)", "--regid=54321", "--clear-groups", "bash", "-c", call]
        try process.run()
        let accepted = pair.acceptAnother()
        #expect(lookup.credentials(ofPeerOf: accepted)?.user == user.expected)
        close(accepted)
        process.waitUntilExit()
    }

    @Test(
        "a service that calls with the listening socket that root has made for it is not root",
        .enabled(if: getuid() == 0, "only root can make a socket of root"), arguments: ["127.0.0.1", "::1"])
    func formerListener(_ host: String) throws {
        let pair = try LoopbackPair(listening: host, connects: false)
        let listening = socket(host.contains(":") ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        let isBound = (20_000..<21_000).contains { port in
            LoopbackPair.withAddress(host, port) { bind(listening, $0, $1) } == 0
        }
        try #require(isBound && listen(listening, 8) == 0)
        try #require(shutdown(listening, Int32(SHUT_RDWR)) == 0)
        try #require(LoopbackPair.withAddress(host, pair.port) { connect(listening, $0, $1) } == 0)
        let accepted = pair.acceptAnother()
        #expect(lookup.credentials(ofPeerOf: accepted) == nil)
        close(accepted)
    }

    @Test("only root must call from a port that the kernel gives out")
    func portsOfCallers() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1")
        #expect(CallerLookup.isCaller(0, from: LoopbackPair.port(of: pair.caller)))
        #expect(!CallerLookup.isCaller(0, from: 111))
        #expect(CallerLookup.isCaller(1000, from: 111))
    }

    @Test("the range of ports is found from some of them")
    func range() {
        #expect(AutomaticPorts.range(around: []) == nil)
        #expect(AutomaticPorts.range(around: [40_000]) == 40_000...40_000)
        #expect(AutomaticPorts.range(around: [12_000, 10_000, 10_800]) == 9875...12_125)
        #expect(AutomaticPorts.range(around: [100, 65_000]) == 0...65_535)
    }

    @Test("the listener of an own connection is this user")
    func ownListener() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1")
        #expect(lookup.listener(at: pair.caller) == .user(getuid()))
        withExtendedLifetime(pair) {}
    }

    @Test(
        "without sock_diag the listener is found in /proc",
        arguments: [
            ("127.0.0.1", nil, false), ("::1", nil, false), ("127.0.0.1", "::ffff:127.0.0.1", false),
            ("::", "127.0.0.1", true), ("::", "::1", true),
        ] as [(String, String?, Bool)])
    func listenerInTable(_ listening: String, _ calling: String?, _ isDualStack: Bool) throws {
        let pair = try LoopbackPair(listening: listening, calling: calling, isDualStack: isDualStack)
        #expect(CallerLookup(asksKernel: false).listener(at: pair.caller) == .user(getuid()))
        withExtendedLifetime(pair) {}
    }

    @Test(
        "without sock_diag another user's listener is that user's",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func otherListenerInTable() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        let script = """
            import socket, sys
            s = socket.create_server(("127.0.0.1", 0))
            print(s.getsockname()[1], flush=True)
            c, _ = s.accept()
            c.recv(1)
            """
        process.arguments = [
            "--reuid=54321", "--regid=54321", "--clear-groups", "/usr/bin/python3", "-c", script,
        ]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(UInt16(text.prefix { $0.isNumber }))
        let calling = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(LoopbackPair.withAddress("127.0.0.1", port, { connect(calling, $0, $1) }) == 0)
        #expect(CallerLookup(asksKernel: false).listener(at: calling) == .user(54_321))
        close(calling)
        process.waitUntilExit()
    }

    @Test("a connection of this process to itself is recognised", arguments: ["127.0.0.1", "::1"])
    func ownProcess(_ host: String) throws {
        let pair = try LoopbackPair(listening: host)
        #expect(OwnProcess.isPeer(of: pair.accepted))
        pair.closeCaller()
        #expect(!OwnProcess.isPeer(of: pair.accepted))
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(OwnProcess.isPeer(of: ends[0]))
        ends.forEach { close($0) }
        #expect(!OwnProcess.isPeer(of: -1))
    }

    @Test("it is recognised also where no more files can be open")
    func ownProcessWithoutDescriptors() async {
        await #expect(processExitsWith: .success) {
            let pair = try LoopbackPair(listening: "127.0.0.1")
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            while dup(0) >= 0 {}
            guard OwnProcess.isPeer(of: pair.accepted) else { exit(3) }
        }
    }

    @Test("a connection of another process is not this one's")
    func otherProcess() throws {
        let pair = try LoopbackPair(listening: "127.0.0.1", connects: false)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(pair.port) && read -r line <&3"]
        try process.run()
        let accepted = pair.acceptAnother()
        #expect(!OwnProcess.isPeer(of: accepted))
        close(accepted)
        process.waitUntilExit()
    }

    @Test("only a listener of root, such as a service manager's, may leave accepting to another user")
    func passedSocket() {
        #expect(CallerLookup.isOneListener(0, accepted: 1000))
        #expect(CallerLookup.isOneListener(1000, accepted: nil))
        #expect(CallerLookup.isOneListener(1000, accepted: 1000))
        #expect(!CallerLookup.isOneListener(1000, accepted: 1001))
    }
}
