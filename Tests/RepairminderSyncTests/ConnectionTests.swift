import ArgumentParser
import EntitySchema
import Foundation
import Glibc
import LocalAPI
import SocketServer
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite struct ConnectionTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func connection(_ arguments: [String], _ environment: [String: String] = [:]) throws -> DaemonConnection {
        try ConnectionOptions.parse(arguments).connection(
            environment: folder.environment(environment), systemSocket: folder.path + "/none.sock")
    }

    @Test("flags for the daemon's address override the configuration")
    func flags() throws {
        #expect(try connection(["--socket", "/a.sock"]).place == .unix("/a.sock"))
        #expect(try connection(["--address", "127.0.0.1:1"]).place == .tcp("http://127.0.0.1:1"))
    }

    @Test(
        "an address needs a host and a port, unless it is a URL",
        arguments: ["shop", "7679", ":7679", "shop:", "shop:0", "a:70000", "a:b"])
    func incompleteAddress(_ address: String) throws {
        let error = #expect(throws: (any Error).self) { try ConnectionOptions.parse(["--address", address]) }
        #expect(
            ConnectionOptions.message(for: try #require(error)).hasPrefix("--address \(address): expected HOST:PORT"))
        #expect(try connection(["--address", "https://shop.example/"]).place == .tcp("https://shop.example"))
        #expect(try connection(["--address", "[::1]:7679"]).place == .tcp("http://[::1]:7679"))
    }

    @Test("without a socket the configured address is used, with the daemon's token if it is readable")
    func configured() throws {
        try folder.write("secret\n", to: "state/api-token")
        try #require(chmod(folder.path("state/api-token"), 0o600) == 0)
        let file = try folder.write("listen: {tcp: '127.0.0.1:99'}\nstate_dir: state", to: "config.yaml")
        let found = try connection(["--config", file])
        #expect(found.place == .tcp("http://127.0.0.1:99"))
        #expect(found.token == "secret")
        #expect(try connection([]).token == nil)
    }

    @Test("a token that others may know, or that another user chose, is not sent")
    func exposedToken() throws {
        let token = try folder.write("secret\n", to: "state/api-token")
        let file = try folder.write("listen: {tcp: '127.0.0.1:99'}\nstate_dir: state", to: "config.yaml")
        try #require(chmod(token, 0o644) == 0)
        let open = #expect(throws: CommandFailure.self) { try connection(["--config", file]) }
        #expect(open?.message.contains("/state/. If they may have read it, delete it") == true)
        try FileManager.default.moveItem(atPath: token, toPath: folder.path("elsewhere"))
        try #require(chmod(folder.path("elsewhere"), 0o600) == 0)
        try #require(symlink(folder.path("elsewhere"), token) == 0)
        let link = #expect(throws: CommandFailure.self) { try connection(["--config", file]) }
        #expect(link?.message.contains("is a link") == true)
    }

    @Test(
        "root sends no file of its own that the owner of the state directory has put in place of the named token by a link",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func linkedToken() throws {
        let own = try folder.write("only-root-knows-this\n", to: "own")
        let token = try folder.write("secret-1\n", to: "state/api-token")
        let arguments = ["--address", "127.0.0.1:99", "--token-file", token]
        for file in [own, token] { try #require(chmod(file, 0o600) == 0) }
        for file in [token, folder.path("state")] { try #require(chown(file, 7, 7) == 0) }
        #expect(try connection(arguments).token == "secret-1")
        #expect(try InitCommand.token(token, .bearer) == "secret-1")
        try #require(unlink(token) == 0 && symlink(own, token) == 0 && lchown(token, 7, 7) == 0)
        let error = #expect(throws: CommandFailure.self) { try connection(arguments) }
        #expect(error?.message.contains("root does not read \(token)") == true)
        #expect(throws: TokenFileError.self) { try InitCommand.token(token, .bearer) }
    }

    @Test(
        "root reads no token by way of another user's directory, where that user chooses whose token it is",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func replacedState() throws {
        let token = try folder.write("secret\n", to: "other/api-token")
        try #require(chmod(token, 0o600) == 0)
        let shop = folder.path("shop")
        try FileManager.default.createDirectory(atPath: shop, withIntermediateDirectories: false)
        try #require(symlink(folder.path("other"), "\(shop)/state") == 0)
        let file = try folder.write("listen: {tcp: '127.0.0.1:99'}\nstate_dir: shop/state", to: "config.yaml")
        #expect(try connection(["--config", file]).token == "secret")
        try #require(chown(shop, 54_321, 54_321) == 0)
        #expect(try connection(["--config", file]).token == nil)
    }

    @Test(
        "a daemon's token is not for another user, in whose directory the configured socket is",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func foreignSocket() throws {
        // The owner of a directory below /tmp is never trusted.
        var template = Array("/run/repairminder-syncXXXXXX".utf8CString)
        let made = mkdtemp(&template)
        try #require(made != nil)
        let place = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let (state, run) = ("\(place)/state", "\(place)/run")
        try #require(chmod(place, 0o755) == 0 && mkdir(state, 0o700) == 0 && mkdir(run, 0o755) == 0)
        let token = "\(state)/api-token"
        try Data("secret-1\n".utf8).write(to: URL(filePath: token))
        try #require(chmod(token, 0o600) == 0)
        for path in [token, state, run] { try #require(chown(path, 54_321, 54_321) == 0) }
        let (address, length) = try SocketAddress.unix(path: "\(run)/api.sock")
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        let status = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        try #require(status == 0)
        let file = try folder.write("state_dir: \(state)\nlisten: { unix: '\(run)/api.sock' }", to: "config.yaml")
        let own = try connection(["--config", file])
        #expect(own.place == .unix("\(run)/api.sock") && own.token == "secret-1" && own.listeners.owners == [54_321])
        try #require(chown(run, 7, 7) == 0)
        let foreign = try connection(["--config", file])
        #expect(foreign.token == "secret-1" && foreign.listeners.owners == [54_321])
        try #require(unlink(token) == 0)
        #expect(try connection(["--config", file]).listeners.owners == [7, 54_321])
    }

    @Test("the owner of a directory is trusted only where no other user could have made it")
    func trust() throws {
        var listeners = ListenerGuard()
        listeners.trustOwner(of: "/usr/bin")
        #expect(listeners.owners == [0])
        listeners = ListenerGuard()
        listeners.trustOwner(of: folder.path)
        #expect(listeners.owners == [])
        listeners.trustOwner(of: "/nowhere")
        #expect(listeners.owners == [])
        #expect(listeners.isAccepted(0))
        #expect(listeners.isAccepted(geteuid()))
        #expect(!listeners.isAccepted(54_321))
    }

    @Test("a larger answer than the daemon gives takes no memory of the caller, who may be root")
    func largeAnswer() async throws {
        let length = DaemonConnection.largestAnswer + 1
        let server = SocketServer(listeners: [.tcp(host: "127.0.0.1", port: 0)]) { _ in
            Response(status: 200, headers: [("Content-Type", "application/json")], length: length) { offset in
                [UInt8](repeating: UInt8(ascii: " "), count: min(length - offset, 1 << 16))
            }
        }
        let address = try #require(try server.bind().first)
        let serving = Task { try await server.run() }
        defer { serving.cancel() }
        let client = try connection(["--address", "\(address)"]).client()
        let error = await #expect(throws: LocalAPIError.self) { try await client.get("/v1/status") }
        guard case .unexpected(let message) = try #require(error) else {
            Issue.record("expected a refusal, got \(String(describing: error))")
            return
        }
        #expect(message.contains("invalid response"), "\(message)")
    }

    /// Answers only when its task is cancelled.
    private struct HangingTransport: HTTPTransport {
        func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            await untilCancelled()
            throw .cancelled
        }
    }

    @Test("a call ends soon after its deadline even if a compromised daemon has libcurl hang")
    func hangingCall() async {
        let clock = SkippingClock()
        let transport = PunctualTransport(transport: HangingTransport(), clock: clock)
        await #expect(throws: TransportError.ambiguous("no complete response within 60.0 seconds")) {
            try await transport.send(HTTPRequest(url: "http://localhost/v1/status", deadline: .seconds(60)))
        }
        #expect(clock.sleeps == [.seconds(65)])
    }

    @Test("a mistake elsewhere in the configuration does not keep commands from the daemon")
    func mistakes() throws {
        let typo = try folder.write(
            "listen: {tcp: '127.0.0.1:98'}\ndashbord: {}\nsync: {interval: soon}", to: "typo.yaml")
        #expect(try connection(["--config", typo]).place == .tcp("http://127.0.0.1:98"))
        let wrong = try folder.write("listen: {tcp: nowhere}", to: "wrong.yaml")
        #expect(throws: CommandFailure.self) { try connection(["--config", wrong]) }
        #expect(throws: CommandFailure.self) { try connection(["--config", "/nowhere.yaml"]) }
    }

    @Test("the page has the address of listen.tcp, or the one that is given")
    func page() throws {
        let file = try folder.write("listen: {tcp: '127.0.0.1:97'}", to: "config.yaml")
        func address(_ words: [String]) throws -> String {
            try ConnectionOptions.parse(words).pageAddress(folder.environment([:]))
        }
        #expect(try address(["--config", file]) == "http://127.0.0.1:97/")
        #expect(try address(["--address", "localhost:1"]) == "http://localhost:1/")
    }

    @Test("who is not in the group gets the command that adds them, and never a port or a code")
    func group() {
        #expect(
            GroupAdvice.text(user: "ada", group: "repairminder", isMember: false)
                == "you are not in the group repairminder: sudo usermod -aG repairminder ada, then log in again; or use sudo"
        )
        #expect(GroupAdvice.text(user: "ada", group: "g", isMember: true).contains("log in again"))
        #expect(GroupAdvice.refusal(of: folder.path + "/none.sock") == nil)
        let unknown = LocalAPIProblem(
            status: 401, title: "Unauthorized", detail: "send a token", code: "token_required")
        let failure = CommandFailure(LocalAPIError.problem(unknown))
        #expect(failure.status == .notAllowed && failure.message.contains("use sudo; or name a file with its token"))
        #expect(GroupAdvice.unknownCaller(of: "daemon").contains("usermod -aG daemon"))
        #expect(GroupAdvice.unknownCaller(of: "no-such-group") == "use sudo")
    }

    @Test("only root and the owner of a state directory may use its files")
    func stateAccess() throws {
        let state = folder.path("state")
        #expect(StateAccess.closed(state, to: 54_321) == nil)
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        #expect(StateAccess.closed(state, to: geteuid()) == nil)
        #expect(StateAccess.closed(state, to: 0) == nil)
        #expect(StateAccess.closed(state, to: 54_321) == StateOwner.name(of: geteuid()))
    }

    @Test("who may not use them learns that sudo helps, and outside the group how to join it")
    func stateRefusal() {
        let member = StateAccess.refusal("/var/lib/x", owner: "the daemon's user", group: nil)
        #expect(member.status == .notAllowed)
        #expect(
            member.message
                == "only root and the daemon's user may use the files in /var/lib/x: run this with sudo")
        let stranger = StateAccess.refusal("/var/lib/x", owner: "bob", group: GroupAdvice.missing("daemon"))
        #expect(
            stranger.message.contains("\n  for the commands that call the daemon: you are not in the group daemon"))
    }

    @Test("a daemon of root, on a machine without the group, needs sudo and no group")
    func stateOfRoot() {
        let stranger = StateAccess.refusal("/srv/x", owner: "root", group: GroupAdvice.missing("no-such-group"))
        #expect(stranger.message == "only root may use the files in /srv/x: run this with sudo")
    }

    @Test("an explicitly named token file must be readable")
    func tokenFile() throws {
        let error = #expect(throws: CommandFailure.self) {
            try connection(["--address", "127.0.0.1:1", "--token-file", "/nowhere"])
        }
        #expect(error?.status == .notAllowed)
    }

    @Test("a path that --socket names and that is no socket is refused by that reason")
    func noSocket() throws {
        let error = #expect(throws: CommandFailure.self) { try connection(["--socket", "/etc/passwd"]) }
        #expect(error?.status == .unreachable && error?.message.contains("this is no socket") == true)
    }

    @Test("doctor says where no daemon listens without naming flags that it does not have")
    func doctorWithoutDaemon() async throws {
        let configuration = try TemporaryFolder().configuration(yaml: "listen: { tcp: 127.0.0.1:1, unix: off }")
        let found = await DaemonChecks(configuration: configuration, systemSocket: nil).findings()
        #expect(found.map(\.message) == ["the daemon cannot be reached at http://127.0.0.1:1"])
    }

    @Test("where no daemon listens, the message names the address and the flags for another", arguments: [true, false])
    func noDaemon(isSocket: Bool) async throws {
        let place: DaemonConnection.Place = isSocket ? .unix("/nowhere/api.sock") : .tcp("http://127.0.0.1:1")
        let address = isSocket ? "/nowhere/api.sock" : "http://127.0.0.1:1"
        let client = try DaemonConnection(place: place).client()
        let message =
            "the daemon cannot be reached at \(address); is it running? If it listens elsewhere, add "
            + "--socket PATH or --address HOST:PORT"
        await #expect(throws: LocalAPIError.unreachable(message)) {
            _ = try await client.get("/v1/status")
        }
    }
}
