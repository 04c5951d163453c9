import Foundation

@testable import repairminder_sync

/// A folder of one test's own; it goes with the last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/repairminder-sync-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the file's path; folders on the way are made.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// A process started in this folder on a machine where nothing is installed.
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

    /// What is said of a configuration that is refused, without this folder's path.
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
