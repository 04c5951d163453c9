import ArgumentParser
import TestSupport
import Testing

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

    @Test("without a socket the configured address is used, with the daemon's token if it is readable")
    func configured() throws {
        try folder.write("secret\n", to: "state/api-token")
        let file = try folder.write("listen: {tcp: '127.0.0.1:99'}\nstate_dir: state", to: "config.yaml")
        #expect(
            try connection(["--config", file]) == DaemonConnection(place: .tcp("http://127.0.0.1:99"), token: "secret"))
        #expect(try connection([]).token == nil)
    }

    @Test("an explicitly named token file must be readable")
    func tokenFile() throws {
        let error = #expect(throws: CommandFailure.self) {
            try connection(["--address", "127.0.0.1:1", "--token-file", "/nowhere"])
        }
        #expect(error?.status == .notAllowed)
    }
}
