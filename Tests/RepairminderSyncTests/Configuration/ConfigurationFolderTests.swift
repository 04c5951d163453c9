import ArgumentParser
import CacheStore
import EntitySchema
import Foundation
import Glibc
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("The folder beside the configuration file") struct ConfigurationFolderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("its files override the file in the order of their names, key by key")
    func order() throws {
        try folder.write("sync: { interval: 3m }\nupstream: { settings: { shop: north } }", to: "conf.d/20-shop.yaml")
        try folder.write("sync: { interval: 2m, full_every: 2h }\nsite: two", to: "conf.d/10-all.yaml")
        let configuration = try folder.configuration(
            yaml: "sync: { interval: 1m, spread: true }\nupstream: { settings: { shop: south, user: ada } }")
        #expect(configuration.sync.interval == .seconds(180))
        #expect(configuration.sync.fullEvery == .seconds(7200))
        #expect(configuration.sync.spread)
        #expect(configuration.site == "two")
        #expect(configuration.upstream.settings == ["shop": "north", "user": "ada"])
        #expect(configuration.parts == ["conf.d/10-all.yaml", "conf.d/20-shop.yaml"].map(folder.path))
    }

    @Test("flags and variables override them")
    func precedence() throws {
        try folder.write("sync: { interval: 3m }", to: "conf.d/20-shop.yaml")
        let variables = ["REPAIRMINDER_SYNC_SYNC_INTERVAL": "4m"]
        #expect(try folder.configuration(yaml: "", environment: variables).sync.interval == .seconds(240))
    }

    @Test(
        "an error names the file and the line in it",
        arguments: [
            ("site: a\nsync: { interval: 1 }", "conf.d/20-shop.yaml:2: sync.interval: \"1\" is not valid"),
            ("synk: { interval: 1m }", "conf.d/20-shop.yaml:1: synk: unknown key"),
            ("sync: [1,\n", "conf.d/20-shop.yaml:2: not YAML"),
            ("upstream: { settings: { Shop: north } }", "conf.d/20-shop.yaml:1: upstream.settings.Shop: "),
            ("hooks: { a: { on: created } }", "conf.d/20-shop.yaml:1: hooks.a: of is missing"),
        ])
    func places(_ yaml: String, _ message: String) throws {
        try folder.write(yaml, to: "conf.d/20-shop.yaml")
        let refusal = try folder.refusal(yaml: "site: b")
        #expect(refusal?.hasPrefix(message) == true, "\(refusal ?? "accepted")")
    }

    @Test("what editors and package managers leave there is not read")
    func leftovers() throws {
        for name in [".10-a.yaml.swp", ".hidden.yaml", "10-a.yaml~", "10-a.yaml.dpkg-old", "README"] {
            try folder.write("no: configuration", to: "conf.d/\(name)")
        }
        #expect(try folder.configuration(yaml: "").parts.isEmpty)
    }

    @Test("a link to nothing is an error, not an empty file")
    func danglingLink() throws {
        try folder.write("", to: "conf.d/10-a.yaml")
        try #require(symlink("/nowhere/at/all", folder.path("conf.d/20-b.yaml")) == 0)
        #expect(try folder.refusal(yaml: "") == "conf.d/20-b.yaml: the file does not exist")
    }

    @Test(
        "another file than config.yaml has a folder of its own name",
        arguments: [
            ("/etc/x/config.yaml", "/etc/x/conf.d"), ("/etc/x/propdocs.yaml", "/etc/x/propdocs.conf.d"),
            ("config.json", "conf.d"), ("./a.yml", "./a.conf.d"), ("/etc/x/plain", "/etc/x/plain.conf.d"),
        ])
    func folders(_ file: String, _ expected: String) {
        #expect(ConfigurationFiles.folder(of: file) == expected)
    }

    @Test("the system's folder counts without the system's file, and paths in it start from the file's directory")
    func alone() throws {
        try folder.write("upstream: { token_file: token }", to: "etc/conf.d/10-token.yaml")
        let configuration = try folder.configuration()
        #expect(configuration.file == folder.path("etc/config.yaml"))
        #expect(configuration.upstream.tokenFile == folder.path("etc/token"))
    }

    @Test("a hook of a later file replaces the one of the same name, and no other")
    func hooks() throws {
        let command = "command: /bin/true"
        try folder.write("hooks: { a: { on: offline, \(command) } }", to: "conf.d/10-a.yaml")
        let configuration = try folder.configuration(
            yaml: "hooks: { a: { on: online, \(command) }, b: { on: online, \(command) } }")
        let events = Dictionary(uniqueKeysWithValues: configuration.hooks.map { ($0.rule.name, $0.rule.events) })
        #expect(events == ["a": [.offline], "b": [.online]])
    }

    @Test(
        "a file or folder that every user can change is refused, and so is such a configuration file or schema",
        arguments: ["config.yaml", "conf.d", "conf.d/10-a.yaml", "s.yaml"])
    func writable(_ name: String) throws {
        let schema = """
            schema: s
            upstream: { base_url: 'https://a.example' }
            entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }
            """
        try folder.write(schema, to: "s.yaml")
        let file = try folder.write("schema: ./s.yaml", to: "config.yaml")
        try folder.write("site: a", to: "conf.d/10-a.yaml")
        let reader = SetupReader(path: file, flags: [:], environment: folder.environment())
        _ = try reader.setup()
        try #require(chmod(folder.path(name), 0o777) == 0)
        let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
        #expect(error?.problem.contains("other users can change") == true)
    }

    @Test("no one signs in or out with a schema that every user can change: it says where password and token are sent")
    func login() async throws {
        let schema = """
            schema: s
            upstream: { base_url: 'https://a.example' }
            entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }
            """
        let path = try folder.write(schema, to: "s.yaml")
        try #require(chmod(path, 0o666) == 0)
        let file = try folder.write("schema: ./s.yaml\nstate_dir: state", to: "config.yaml")
        let command = try LoginCommand.parse(["--config", file])
        let error = await #expect(throws: ConfigurationError.self) { try await command.run() }
        #expect(error?.problem.contains("other users can change the schema") == true)
        let logout = try LogoutCommand.parse(["--config", file])
        await #expect(throws: ConfigurationError.self) { try await logout.run() }
        #expect(LoginCommand.text(of: SignedInAccount(id: "a\nrun this")) == "signed in as a run this")
    }

    @Test("a schema that every user can change is accepted if its hash is pinned")
    func pinnedSchema() throws {
        let schema = """
            schema: s
            upstream: { base_url: 'https://a.example' }
            entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }
            """
        let path = try folder.write(schema, to: "s.yaml")
        try #require(chmod(path, 0o666) == 0)
        let sha256 = SchemaFinder.Source(file: path, text: schema).sha256
        let file = try folder.write("schema: { name: ./s.yaml, sha256: \(sha256) }", to: "config.yaml")
        let reader = SetupReader(path: file, flags: [:], environment: folder.environment())
        #expect(try reader.setup().schema.name == "s")
    }

    @Test("a mistake in one of its files leaves the others in effect for commands")
    func lenient() throws {
        try folder.write("listen: [1,\n", to: "etc/conf.d/10-a.yaml")
        try folder.write("state_dir: /var/x", to: "etc/conf.d/20-b.yaml")
        let reader = try ConfigurationReader(path: nil, flags: [:], environment: folder.environment(), isLenient: true)
        #expect(reader.problem?.place.hasSuffix("10-a.yaml:2") == true)
        #expect(try reader.place().stateDirectory == "/var/x")
    }

    @Test("each value is listed with what sets it and what it replaces")
    func origins() throws {
        try folder.write("\nsync: { interval: 3m }\nhooks: { a: { on: offline, command: /x } }", to: "conf.d/20.yaml")
        let file = try folder.write(
            "sync: { interval: 1m }\nupstream: { settings: { shop: north } }", to: "config.yaml")
        let reader = try ConfigurationReader(
            path: file, flags: [.site: "b"], environment: folder.environment(["REPAIRMINDER_SYNC_SYNC_INTERVAL": "4m"]))
        let text = CheckConfigCommand.text(of: try reader.origins()).replacing(folder.path + "/", with: "")
        #expect(
            text == """
                site                    b        --site
                sync.interval           4m       REPAIRMINDER_SYNC_SYNC_INTERVAL  instead of 3m (conf.d/20.yaml:2), \
                1m (config.yaml:1)
                upstream.settings.shop  north    config.yaml:2
                hooks.a                 offline  conf.d/20.yaml:3

                """)
    }
}
