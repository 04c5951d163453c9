import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

/// Checks config/config.yaml against the code: every key must be described correctly.
@Suite struct ConfigFileTests {
    let folder: TemporaryFolder
    let text: String

    init() throws {
        folder = try TemporaryFolder()
        text = try ProjectFiles.text("config/config.yaml")
    }

    @Test("the shipped file sets nothing")
    func asShipped() throws {
        #expect(try ConfigurationFile(yaml: text, path: "config.yaml").values.isEmpty)
    }

    @Test("with every key uncommented it sets the defaults")
    func uncommented() throws {
        let yaml = text.replacing(/(?m)^( *)#([a-z_]+:)/) { "\($0.1)\($0.2)" }
        var configuration = try folder.configuration(yaml: yaml)
        configuration.file = nil
        #expect(configuration == (try folder.configuration()))
        let set = Set(try ConfigurationFile(yaml: yaml, path: "config.yaml").values.keys)
        let withoutValue: Set<ConfigurationKey> = [
            .secretKeyFile, .upstreamBaseURL, .upstreamTokenFile, .listenUnix, .dashboardTimeZone,
            .remindersCommand, .remindersWebhook, .remindersSecretFile, .mirrorDirectory, .signalsSecretFile, .instance,
            .site,
            .schemaVersion,
            .schemaSHA256,
            .standbyMembers, .standbyCAFile, .standbyCertificateFile, .standbyCertificateKeyFile, .standbyUser,
            .standbyPasswordFile,
        ]
        #expect(set.union(withoutValue) == Set(ConfigurationKey.allCases))
    }

    @Test("every key is listed with its flag and its environment variable", arguments: ConfigurationKey.allCases)
    func names(key: ConfigurationKey) throws {
        #expect(text.contains("Flag: --\(key.flag). Environment: \(key.variable)\n"))
    }

    @Test("every mapping is listed with its flag and its environment variable", arguments: ConfigurationMap.allCases)
    func maps(map: ConfigurationMap) throws {
        #expect(text.contains("Flag: --\(map.flag) NAME=") && text.contains("Environment: \(map.variablePrefix)NAME\n"))
        #expect(try ProjectFiles.text("docs/config.md").contains("| `\(map.rawValue)` | `--\(map.flag) NAME="))
    }

    @Test(
        "docs/config.md lists every key with its flag and its environment variable",
        arguments: ConfigurationKey.allCases)
    func documentation(key: ConfigurationKey) throws {
        let page = try ProjectFiles.text("docs/config.md")
        #expect(page.contains("| `\(key.rawValue)` | `--\(key.flag)` | `\(key.variable)` |"))
    }
}
