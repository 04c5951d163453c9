import EntitySchema
import Foundation
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import CacheStore

/// A folder in memory for databases, with one empty database per schema to copy from.
final class DatabaseFolder: Sendable {
    private let folder: URL
    private let templates = Mutex<[String: String]>([:])
    private let count = Counter()

    init() throws {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let parent = isThere ? memory : FileManager.default.temporaryDirectory
        folder = parent.appending(path: "simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Creates an empty database of this schema and returns its path.
    func newDatabase(_ settings: SimulationSettings) throws -> String {
        try newDatabase(of: settings.schema(), from: settings.yaml)
    }

    /// `yaml` is the schema's text, which identifies the empty database to copy.
    func newDatabase(of schema: EntitySchema, from yaml: String) throws -> String {
        let path = newPath()
        if let template = templates.withLock({ $0[yaml] }) {
            try FileManager.default.copyItem(atPath: template, toPath: path)
            return path
        }
        let template = newPath()
        try CacheStore(path: template, schema: schema, sealer: .sample(), makeID: { "" }).close()
        templates.withLock { $0[yaml] = template }
        try FileManager.default.copyItem(atPath: template, toPath: path)
        return path
    }

    /// Copies what a process that dies now leaves behind: the file and its log as they are.
    func copy(_ path: String) throws -> String {
        let copy = newPath()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    /// Creates a file that only this user may read, and returns its path; without a text only the path.
    func newPrivateFile(_ text: String? = nil) throws -> String {
        let path = folder.appending(path: "private-\(count.next())").path
        guard let text else { return path }
        let isMade = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    func delete(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func newPath() -> String {
        folder.appending(path: "cache-\(count.next()).db").path
    }
}
