package import Foundation

/// A folder that exists as long as a reference to it does.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/repairminder-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, creating the folders on its way, and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}
