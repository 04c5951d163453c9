import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct ConfigurationRefusalTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    static let durations = "a duration such as 500ms, 30s, 15m or 24h, from"

    @Test(
        "an invalid value is rejected with line, key, value and what was expected",
        arguments: [
            (
                "sync:\n  interval: 15",
                "config.yaml:2: sync.interval: \"15\" is not valid; expected \(durations) 100ms to 7d"
            ),
            (
                "sync: {interval: 8d}",
                "config.yaml:1: sync.interval: \"8d\" is not valid; expected \(durations) 100ms to 7d"
            ),
            (
                "sync: {delete_guard: 0.2}",
                "config.yaml:1: sync.delete_guard: \"0.2\" is not valid; expected a percentage such as 20%, from 0% to 100%"
            ),
            (
                "sync: {delete_guard: 101%}",
                "config.yaml:1: sync.delete_guard: \"101%\" is not valid; expected a percentage such as 20%, from 0% to 100%"
            ),
            (
                "upstream:\n\n  parallel: 33",
                "config.yaml:3: upstream.parallel: \"33\" is not valid; expected a whole number from 1 to 32"
            ),
            (
                "listen: {rate: 0}",
                "config.yaml:1: listen.rate: \"0\" is not valid; expected a whole number from 1 to 1000000, or off"
            ),
            (
                "dashboard: {time_zone: London}",
                "config.yaml:1: dashboard.time_zone: \"London\" is not valid; expected a time zone's name such as Europe/London"
            ),
            (
                "listen: {allow_remote: maybe}",
                "config.yaml:1: listen.allow_remote: \"maybe\" is not valid; expected true or false"
            ),
            ("log: {format: xml}", "config.yaml:1: log.format: \"xml\" is not valid; expected one of text, json"),
            (
                "upstream: {base_url: 'ftp://a'}",
                "config.yaml:1: upstream.base_url: \"ftp://a\" is not valid; expected a URL such as "
                    + "https://api.example.com, without user, query or fragment"
            ),
            (
                "standby: {etcd: 'https://a:2379, etcd-2:2379'}",
                "config.yaml:1: standby.etcd: \"etcd-2:2379\" is not valid; expected URLs such as https://etcd-1:2379, "
                    + "separated by commas"
            ),
            (
                "standby: {etcd: 'http://etcd-1:2379'}",
                "config.yaml:1: standby.etcd: http://etcd-1:2379 is not encrypted; use https, or set "
                    + "standby.allow_plain_http to true if no one can read the traffic of that network"
            ),
            (
                "standby: {etcd: 'https://a:2379', user: sync}",
                "config.yaml:1: standby.user: standby.user and standby.password_file belong together; set both or none"
            ),
            ("state_dir: ''", "config.yaml:1: state_dir: the value is empty; expected a path"),
            (
                "retry: {cap: 1s}",
                "config.yaml:1: retry.cap: retry.cap is shorter than retry.base; expected at least retry.base"
            ),
        ])
    func wrongValue(yaml: String, message: String) throws {
        #expect(try folder.refusal(yaml: yaml) == message)
    }

    @Test("an invalid value of a flag or variable is rejected under the name of that flag or variable")
    func places() throws {
        let problem = "\"x\" is not valid; expected a whole number from 1 to 64"
        #expect(try folder.refusal(flags: [.listenThreads: "x"]) == "--listen.threads: \(problem)")
        let variable = "REPAIRMINDER_SYNC_LISTEN_THREADS"
        #expect(try folder.refusal(environment: [variable: "x"]) == "\(variable): \(problem)")
    }

    @Test(
        "an unknown key is rejected with its line and a suggestion",
        arguments: [
            ("sync:\n  intervall: 1m", "config.yaml:2: sync.intervall: unknown key; did you mean sync.interval?"),
            ("statedir: /x", "config.yaml:1: statedir: unknown key; did you mean state_dir?"),
            ("interval: 1m", "config.yaml:1: interval: unknown key; did you mean sync.interval?"),
            ("synk: {interval: 1m}", "config.yaml:1: synk: unknown key; did you mean sync?"),
        ])
    func unknownKey(yaml: String, message: String) throws {
        #expect(try folder.refusal(yaml: yaml) == message)
    }

    @Test("an unknown key without a similar key is rejected with a list of all keys")
    func strangeKey() throws {
        let message = try #require(try folder.refusal(yaml: "zzzzzzzz: 1"))
        #expect(message.hasPrefix("config.yaml:1: zzzzzzzz: unknown key; the keys are schema, state_dir, "))
    }

    @Test("where off is allowed, the message about another value names it")
    func off() throws {
        let message = try #require(try folder.refusal(yaml: "backup: {every: never}"))
        #expect(message.hasSuffix("from 1s to 90d, or off"))
        let interval = try #require(try folder.refusal(yaml: "sync: {interval: never}"))
        #expect(interval.hasSuffix("from 100ms to 7d"))
    }

    @Test("an unknown key of a section is rejected with a list of that section's keys")
    func strangeKeyInSection() throws {
        #expect(
            try folder.refusal(yaml: "mirror: {zzzzzzzz: 1}")
                == "config.yaml:1: mirror.zzzzzzzz: unknown key; the keys are mirror.enabled, mirror.directory")
    }

    @Test(
        "a file with another structure is rejected",
        arguments: [
            ("- a", "config.yaml:1: expected a mapping (key: value)"),
            ("sync: 15m", "config.yaml:1: sync: expected a mapping (key: value)"),
            ("schema: [a, b]", "config.yaml:1: schema: expected a single value"),
        ])
    func shape(yaml: String, message: String) throws {
        #expect(try folder.refusal(yaml: yaml) == message)
    }

    @Test("a duplicate key is rejected")
    func doubledKey() throws {
        let message = "config.yaml:2: not YAML: duplicate key in this mapping: base"
        #expect(try folder.refusal(yaml: "retry:\n  base: 1s\n  base: 2s") == message)
    }

    @Test("invalid YAML is rejected with its line")
    func notYAML() throws {
        let message = try #require(try folder.refusal(yaml: "schema: a\nsync: [1,\n"))
        #expect(message.hasPrefix("config.yaml:3: not YAML: "))
        #expect(!message.contains("\n"))
    }

    @Test("an address reachable from other machines is rejected unless that and plain HTTP are allowed")
    func remote() throws {
        let yaml = "listen: {tcp: '0.0.0.0:7679'}"
        let message = try #require(try folder.refusal(yaml: yaml))
        #expect(message.contains("listen.tcp: 0.0.0.0:7679 is reachable from other machines"))
        let plain = try #require(try folder.refusal(yaml: yaml, flags: [.listenAllowRemote: "true"]))
        #expect(plain.contains("the API has no TLS") && plain.contains("listen.allow_plain_http"))
        let allowed = try folder.configuration(
            yaml: yaml, flags: [.listenAllowRemote: "true", .listenAllowPlainHTTP: "true"])
        #expect(allowed.listen.tcp == ListenAddress("0.0.0.0:7679"))
    }

    @Test("a configuration without any listener is rejected")
    func nowhere() throws {
        #expect(try folder.refusal(flags: [.listenTCP: "off"])?.contains("set listen.unix") == true)
        let configuration = try folder.configuration(flags: [.listenTCP: "off", .listenUnix: "/run/x.sock"])
        #expect(configuration.listen.tcp == nil)
    }

    @Test("a socket path longer than the kernel's limit is rejected")
    func longSocket() throws {
        let path = "/" + String(repeating: "a", count: 107)
        #expect(try folder.refusal(flags: [.listenUnix: path])?.contains("too long for a Unix socket") == true)
    }

    @Test("an explicitly named file must exist")
    func missingFile() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationReader(path: "/nowhere/c.yaml", flags: [:], environment: folder.environment())
        }
        #expect(error?.description == "/nowhere/c.yaml: the file does not exist")
        let directory = #expect(throws: ConfigurationError.self) {
            try ConfigurationReader(path: folder.path, flags: [:], environment: folder.environment())
        }
        #expect(directory?.description == "\(folder.path): this is a directory; name a file")
    }

    @Test(
        "a listen address is an IP address with a port",
        arguments: [
            "7679", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:-1", "example.com:80", "::1:80", "[127.0.0.1]:80", "",
        ])
    func addresses(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test("localhost is 127.0.0.1 and [::1], also where the system chooses the port", arguments: [UInt16(0), 7679])
    func localhost(_ port: UInt16) throws {
        let addresses = try #require(ListenAddress("localhost:\(port)")).addresses
        #expect(addresses.map(\.host) == ["127.0.0.1", "::1"] && addresses.map(\.port) == [port, port])
    }

    @Test("only a missing address means that there is no [::1], not one whose ports another user holds")
    func noIPv6() {
        #expect([EADDRNOTAVAIL, EAFNOSUPPORT].allSatisfy(ListenAddress.meansNoIPv6))
        #expect([EADDRINUSE, EMFILE, ENFILE, ENOBUFS, EACCES].allSatisfy { !ListenAddress.meansNoIPv6($0) })
    }

    @Test("an address is formatted as it was parsed")
    func addressText() throws {
        #expect(ListenAddress("[::1]:80")?.description == "[::1]:80")
        #expect(ListenAddress("localhost:0")?.description == "127.0.0.1:0")
        #expect(try #require(ListenAddress("127.9.9.9:1")).isLoopback)
        #expect(try #require(ListenAddress("192.168.1.1:1")).isLoopback == false)
    }
}
