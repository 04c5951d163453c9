import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

/// config/config.yaml against the code: it must tell the truth about every key.
@Suite struct ConfigFileTests {
    let folder: TemporaryFolder
    let text: String

    init() throws {
        folder = try TemporaryFolder()
        text = try ProjectFiles.text("config/config.yaml")
    }

    @Test("as it is shipped it sets nothing")
    func asShipped() throws {
        #expect(try ConfigurationFile(yaml: text, path: "config.yaml").values.isEmpty)
    }

    @Test("with every key uncommented it equals the defaults")
    func uncommented() throws {
        let yaml = text.replacing(/(?m)^( *)#([a-z_]+:)/) { "\($0.1)\($0.2)" }
        var configuration = try folder.configuration(yaml: yaml)
        configuration.file = nil
        #expect(configuration == (try folder.configuration()))
        let set = Set(try ConfigurationFile(yaml: yaml, path: "config.yaml").values.keys)
        let withoutValue: Set<ConfigurationKey> = [
            .secretKeyFile, .upstreamBaseURL, .upstreamTokenFile, .listenUnix, .dashboardTimeZone,
            .remindersCommand, .remindersWebhook, .mirrorDirectory,
        ]
        #expect(set.union(withoutValue) == Set(ConfigurationKey.allCases))
    }

    @Test("every key is named with its flag and its environment variable", arguments: ConfigurationKey.allCases)
    func names(key: ConfigurationKey) throws {
        #expect(text.contains("Flag: --\(key.flag). Environment: \(key.variable)\n"))
    }

    @Test(
        "every key stands in docs/config.md with its flag and its environment variable",
        arguments: ConfigurationKey.allCases)
    func documentation(key: ConfigurationKey) throws {
        let page = try ProjectFiles.text("docs/config.md")
        #expect(page.contains("| `\(key.rawValue)` | `--\(key.flag)` | `\(key.variable)` |"))
    }
}
