import Foundation
import TestSupport

extension TemporaryFolder {
    /// Creates a folder where a file is to be written, so that writing fails, even for root.
    func block(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: false)
    }

    func unblock(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
}
