import TestSupport

@testable import repairminder_sync

extension TemporaryFolder {
    /// A process started in this folder on a machine where nothing is installed.
    func environment(_ environment: [String: String] = [:]) -> Environment {
        Environment(
            environment: ["HOME": "/home/ada"].merging(environment) { $1 }, executable: path + "/bin/repairminder-sync",
            workingDirectory: path, systemFolder: path + "/etc")
    }

    func configuration(
        yaml: String? = nil, flags: [ConfigurationKey: String] = [:], environment: [String: String] = [:]
    ) throws -> Configuration {
        let file = try yaml.map { try write($0, to: "config.yaml") }
        return try ConfigurationReader(path: file, flags: flags, environment: self.environment(environment))
            .configuration()
    }

    /// What the reason says why a configuration is refused, without this folder's path.
    func refusal(
        yaml: String? = nil, flags: [ConfigurationKey: String] = [:], environment: [String: String] = [:]
    ) throws -> String? {
        do {
            _ = try configuration(yaml: yaml, flags: flags, environment: environment)
            return nil
        } catch let error as ConfigurationError {
            return "\(error)".replacing(path + "/", with: "")
        }
    }
}
