import ArgumentParser
import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct ConfigurationTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("without a file, flags and variables every key has its default")
    func defaults() throws {
        let expected = Configuration(
            file: nil, schema: "repairminder-live", stateDirectory: "/home/ada/.local/state/repairminder-sync",
            upstream: .init(baseURL: nil, tokenFile: nil, parallel: 4, deadline: .seconds(60)),
            sync: .init(
                interval: .seconds(900), fullEvery: .seconds(86_400), deleteGuard: 0.2, writeDelay: .milliseconds(100)),
            retry: .init(maximumAttempts: 10, base: .seconds(2), cap: .seconds(300)),
            history: .init(keepDays: 30, keepChanges: 100_000),
            backup: .init(every: .seconds(86_400), keep: 7, keepDays: 30),
            content: .init(keepSize: 1 << 30),
            listen: .init(
                tcp: ListenAddress("localhost:7679"), unix: nil, allowRemote: false, group: "repairminder", rate: nil,
                threads: 2),
            signals: .init(listen: nil, secretFile: nil),
            dashboard: .init(timeZone: nil),
            reminders: .init(recipient: nil, deadline: .seconds(30), hour: 9),
            hooks: [], mirror: .init(isEnabled: false, directory: "/home/ada/.local/state/repairminder-sync/mirror"),
            log: .init(level: .info, format: .text), warnings: [])
        #expect(try folder.configuration() == expected)
    }

    @Test("flags override the environment, the environment the file, the file the defaults")
    func precedence() throws {
        let yaml = "sync:\n  interval: 1m"
        let environment = ["REPAIRMINDER_SYNC_SYNC_INTERVAL": "2m"]
        #expect(try folder.configuration(yaml: yaml).sync.interval == .seconds(60))
        #expect(try folder.configuration(yaml: yaml, environment: environment).sync.interval == .seconds(120))
        let flags = [ConfigurationKey.syncInterval: "3m"]
        let all = try folder.configuration(yaml: yaml, flags: flags, environment: environment)
        #expect(all.sync.interval == .seconds(180))
    }

    @Test("each key can be set by its environment variable", arguments: ConfigurationKey.allCases)
    func variables(key: ConfigurationKey) throws {
        let configuration = try folder.configuration(environment: [key.variable: Samples.value(key)])
        #expect(configuration != (try folder.configuration()))
        #expect(configuration.warnings.isEmpty)
    }

    @Test("each key can be set by its flag", arguments: ConfigurationKey.allCases)
    func flags(key: ConfigurationKey) throws {
        let options = try ConfigurationFlags.parse(["--\(key.flag)", Samples.value(key)])
        #expect(options.flags == [key: Samples.value(key)])
    }

    @Test("the flag that allows remote callers needs no value")
    func bareFlag() throws {
        #expect(try ConfigurationFlags.parse(["--listen.allow-remote"]).flags == [.listenAllowRemote: "true"])
    }

    @Test("JSON is read like YAML")
    func json() throws {
        let configuration = try folder.configuration(
            yaml: #"{"retry": {"max_attempts": 3}, "log": {"format": "json"}}"#)
        #expect(configuration.retry.maximumAttempts == 3)
        #expect(configuration.log.format == .json)
    }

    @Test("an empty file, an empty section, a null and an empty variable set nothing")
    func nothing() throws {
        for yaml in ["", "# a comment\n", "sync:\n", "sync:\n  interval:\n", "schema: null\nlisten: {unix: ~}"] {
            var configuration = try folder.configuration(
                yaml: yaml, environment: ["REPAIRMINDER_SYNC_SYNC_INTERVAL": ""])
            configuration.file = nil
            #expect(configuration == (try folder.configuration()), "\(yaml)")
        }
    }

    @Test("a quoted null is text")
    func quotedNull() throws {
        #expect(try folder.configuration(yaml: "schema: 'null'").schema == "null")
    }

    @Test("systemd's directories are the defaults, the first of several")
    func systemd() throws {
        try folder.write("secret", to: "credentials/upstream-token")
        let configuration = try folder.configuration(environment: [
            "STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "RUNTIME_DIRECTORY": "/run/a",
            "CREDENTIALS_DIRECTORY": folder.path + "/credentials",
        ])
        #expect(configuration.stateDirectory == "/var/lib/a")
        #expect(configuration.tokenFile == "/var/lib/a/api-token")
        #expect(configuration.listen.unix == "/run/a/api.sock")
        #expect(configuration.upstream.tokenFile == folder.path + "/credentials/upstream-token")
    }

    @Test("an empty credential counts as none")
    func emptyCredential() throws {
        try folder.write("", to: "credentials/upstream-token")
        try folder.write("", to: "credentials/secret-key")
        let configuration = try folder.configuration(environment: [
            "CREDENTIALS_DIRECTORY": folder.path + "/credentials"
        ])
        #expect(configuration.upstream.tokenFile == nil)
        #expect(configuration.secretKeyFile == nil)
    }

    @Test("a credential that is no file, or a link to nothing, is not taken for none")
    func otherCredential() throws {
        let credentials = folder.path + "/credentials"
        try FileManager.default.createDirectory(
            atPath: credentials + "/secret-key", withIntermediateDirectories: true)
        try #require(mkfifo(credentials + "/upstream-token", 0o600) == 0)
        try #require(symlink("/nowhere/at/all", credentials + "/signals-secret") == 0)
        let configuration = try folder.configuration(environment: ["CREDENTIALS_DIRECTORY": credentials])
        #expect(configuration.secretKeyFile == credentials + "/secret-key")
        #expect(configuration.upstream.tokenFile == credentials + "/upstream-token")
        #expect(configuration.signals.secretFile == credentials + "/signals-secret")
    }

    @Test("a relative path in the file starts from the file's directory, any other from the working directory")
    func relativePaths() throws {
        let file = try folder.write("upstream: {token_file: token}\nstate_dir: ~/state", to: "deep/config.yaml")
        let configuration = try ConfigurationReader(
            path: file, flags: [.schema: "./mine.yaml"], environment: folder.environment()
        ).configuration()
        #expect(configuration.upstream.tokenFile == folder.path + "/deep/token")
        #expect(configuration.stateDirectory == "/home/ada/state")
        #expect(configuration.schema == folder.path + "/mine.yaml")
    }

    @Test("the system's file is read when no file is named")
    func systemFile() throws {
        let file = try folder.write("schema: mine", to: "etc/config.yaml")
        let configuration = try folder.configuration()
        #expect(configuration.file == file)
        #expect(configuration.schema == "mine")
    }

    @Test("settings and credentials come from the file, the environment and flags, name by name")
    func maps() throws {
        let yaml = """
            upstream:
              settings: { tenant: north, user: ada@example.org, number: 7 }
              secrets:
                password: files/password
            """
        let file = try folder.write(yaml, to: "deep/config.yaml")
        let environment = folder.environment([
            "REPAIRMINDER_SYNC_UPSTREAM_SETTINGS_TENANT": "south", "REPAIRMINDER_SYNC_UPSTREAM_SECRETS_KEY": "/etc/key",
        ])
        let configuration = try ConfigurationReader(
            path: file, flags: [:], maps: [.settings: ["user=bob=b"], .secrets: []], environment: environment
        ).configuration()
        #expect(configuration.upstream.settings == ["tenant": "south", "user": "bob=b", "number": "7"])
        #expect(
            configuration.upstream.secrets == ["password": folder.path + "/deep/files/password", "key": "/etc/key"])
        #expect(configuration.warnings.isEmpty)
    }

    @Test("systemd's credentials are found by their names; the token's is no such credential")
    func systemdSecrets() throws {
        for name in ["upstream-token", "upstream-password", "secret-key", "other"] {
            try folder.write("secret", to: "credentials/\(name)")
        }
        try folder.write("", to: "credentials/upstream-empty")
        let configuration = try folder.configuration(
            yaml: "upstream: { secrets: { code: /etc/code } }",
            environment: ["CREDENTIALS_DIRECTORY": folder.path + "/credentials"])
        #expect(
            configuration.upstream.secrets
                == ["password": folder.path + "/credentials/upstream-password", "code": "/etc/code"])
    }

    @Test(
        "a wrong mapping is refused",
        arguments: [
            ("upstream: { settings: north }", "expected a mapping"),
            ("upstream: { settings: { Tenant: a } }", "lower-case letters"),
            ("upstream: { settings: { tenant: [a] } }", "expected a single value"),
            ("upstream: { setting: { tenant: a } }", "did you mean upstream.settings?"),
            ("upstream: { secrets: { a: '' } }", "is empty"),
        ])
    func wrongMaps(_ yaml: String, _ problem: String) {
        #expect {
            try folder.configuration(yaml: yaml)
        } throws: { ($0 as? ConfigurationError)?.problem.contains(problem) == true }
    }

    @Test("the flags of maps can be repeated, and need NAME=VALUE")
    func mapFlags() throws {
        let options = try ConfigurationOptions.parse([
            "--upstream.setting", "a=1", "--upstream.setting", "b=2", "--upstream.secret", "p=/x",
        ])
        let configuration = try options.configuration(environment: folder.environment())
        #expect(
            configuration.upstream.settings == ["a": "1", "b": "2"] && configuration.upstream.secrets == ["p": "/x"])
        let wrong = try ConfigurationOptions.parse(["--upstream.setting", "a"])
        #expect(throws: ConfigurationError.self) { try wrong.configuration(environment: folder.environment()) }
    }

    @Test("an unknown variable is reported with a suggestion")
    func unknownVariable() throws {
        let configuration = try folder.configuration(environment: ["REPAIRMINDER_SYNC_SYNC_INTERVALL": "1m"])
        #expect(
            configuration.warnings == [
                "the environment variable REPAIRMINDER_SYNC_SYNC_INTERVALL is not a configuration key; "
                    + "did you mean REPAIRMINDER_SYNC_SYNC_INTERVAL?"
            ])
    }
}

/// A value other than the default for each key.
enum Samples {
    static func value(_ key: ConfigurationKey) -> String {
        switch key {
        case .schema: "other"
        case .schemaVersion: "2026-11"
        case .schemaSHA256: String(repeating: "0a", count: 32)
        case .mirrorDirectory, .stateDirectory, .secretKeyFile, .upstreamTokenFile, .listenUnix,
            .signalsSecretFile, .standbyCAFile, .standbyCertificateFile, .standbyCertificateKeyFile,
            .standbyPasswordFile, .remindersSecretFile:
            "/tmp/elsewhere"
        case .standbyMembers: "https://etcd-1:2379, http://127.0.0.1:2379/"
        case .standbyKey, .standbyUser: "shop-2"
        case .upstreamBaseURL: "http://127.0.0.1:8080/"
        case .upstreamParallel, .retryMaximumAttempts, .listenRate, .listenThreads, .historyKeepDays: "7"
        case .backupKeep, .backupKeepDays: "5"
        case .historyKeepChanges: "777"
        case .upstreamDeadline, .syncInterval, .syncFullEvery, .syncWriteDelay, .retryBase, .retryCap, .backupEvery,
            .remindersDeadline, .standbyTTL:
            "7s"
        case .syncDeleteGuard: "7.5%"
        case .contentKeepSize: "7MiB"
        case .listenTCP, .signalsListen: "[::1]:0"
        case .listenAllowRemote, .listenAllowPlainHTTP, .upstreamAllowPlainHTTP: "true"
        case .listenTCPWithoutToken: "reads"
        case .listenGroup: "staff"
        case .instance, .site: "till-2"
        case .syncSpread, .standbySync, .standbyAllowPlainHTTP: "true"
        case .dashboardTimeZone: "Asia/Kolkata"
        case .remindersCommand: "/usr/bin/logger -t home"
        case .remindersWebhook: "http://127.0.0.1:9000/hook"
        case .remindersHour: "7"
        case .mirrorEnabled: "true"
        case .logLevel: "debug"
        case .logFormat: "json"
        }
    }
}
