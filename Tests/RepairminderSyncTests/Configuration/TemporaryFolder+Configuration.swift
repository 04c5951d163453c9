import TestSupport

@testable import repairminder_sync

extension TemporaryFolder {
    /// The environment of a process started in this directory on a machine without an installation.
    func environment(_ variables: [String: String] = [:]) -> Environment {
        Environment(
            variables: ["HOME": "/home/ada"].merging(variables) { $1 }, executable: path + "/bin/repairminder-sync",
            workingDirectory: path, systemFolder: path + "/etc")
    }

    func configuration(
        yaml: String? = nil, flags: [ConfigurationKey: String] = [:], environment: [String: String] = [:]
    ) throws -> Configuration {
        let file = try yaml.map { try write($0, to: "config.yaml") }
        return try ConfigurationReader(path: file, flags: flags, environment: self.environment(environment))
            .configuration()
    }

    /// The error of an invalid configuration, without this directory's path; nil for a valid one.
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
