import CacheStore
import EntitySchema
import Foundation
import Glibc
import JSONText
import SystemCalls

/// The directory of a mirror: `<entity>.json` for each entity, `_queue.json` with unsent changes, `_reminders.json`
/// with the state of reminders, and `_mirror.json` with the mirror's origin. Entity names never begin with `_`.
struct MirrorFolder {
    /// The cache that a mirror belongs to.
    struct Origin: Equatable {
        var schema: String
        /// Nil while it is not set.
        var upstream: String?
        var account: String?
        /// Identifies the database.
        var epoch: String

        var document: JSONText {
            .object([
                "schema": .string(schema), "upstream": .string(upstream), "account": .string(account),
                "epoch": .string(epoch),
            ])
        }
    }

    let path: String

    private var originPath: String { "\(path)/_mirror.json" }
    private var queuePath: String { "\(path)/_queue.json" }
    private var remindersPath: String { "\(path)/_reminders.json" }
    private func recordsPath(_ entity: String) -> String { "\(path)/\(entity).json" }

    /// Creates the directory if needed, for its owner only. Throws when another user may change it.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw MirrorError(message: "cannot create \(path) (\(error)); set mirror.directory to another directory")
        }
        try requireOwn()
    }

    /// Throws when another user may change the directory or put another in its place, or when there is none.
    func requireOwn() throws {
        guard let status = stat(of: path) else {
            throw MirrorError(
                message: "cannot open \(path) (\(SystemError.last)); check mirror.directory")
        }
        guard [geteuid(), 0].contains(status.st_uid) else {
            throw MirrorError(
                message: "\(path) belongs to another user, who could replace files in it; set mirror.directory to a "
                    + "directory of the daemon's user")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw MirrorError(message: "other users can change files in \(path); \(closing)")
        }
        guard ProgramFile(path: URL(fileURLWithPath: path).path).refusal == nil else {
            throw MirrorError(
                message: "other users can put another directory in place of \(path), or of one on the way to it; set "
                    + "mirror.directory to a directory below those of root or the daemon's user")
        }
    }

    /// No command for a link: root could run it, and a compromised daemon chooses where a link in `state_dir` leads.
    private var closing: String {
        return stat(ofLink: path)?.isLink == true
            ? "it is a link: set mirror.directory to another directory"
            : "stop the daemon, see that this is still no link, then run chmod go-w \(path)"
    }

    // MARK: Writing

    func write(_ origin: Origin) throws {
        try MirrorFile(path: originPath).write { try $0(origin.document.text + "\n") }
    }

    /// Write the queue before the records, so that every change is in one of them at any time.
    func writeQueue(of store: CacheStore) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try write(to: queuePath) { list in
            try store.forEachStoredChange { try list.append(String(decoding: encoder.encode($0), as: UTF8.self)) }
        }
    }

    func writeReminders(of store: CacheStore) throws {
        try write(to: remindersPath) { list in
            for reminder in try store.storedReminders() { try list.append(reminder.text) }
        }
    }

    func writeRecords(of entity: String, _ store: CacheStore) throws {
        try write(to: recordsPath(entity)) { list in
            try store.forEachStoredRecord(of: entity) { try list.append($0) }
        }
    }

    private func write(to path: String, _ body: (inout ListWriter) throws -> Void) throws {
        try MirrorFile(path: path).write { piece in
            var list = ListWriter(piece: piece)
            try body(&list)
            try list.end()
        }
    }

    /// Moves the mirror of another cache into a subdirectory, in case that cache is lost, and returns its path.
    func setAside(_ origin: Origin) throws -> String {
        let folder = "\(path)/before-\(origin.epoch.filter { $0.isLetter || $0.isNumber })"
        try MirrorFolder(path: folder).make()
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }
        // The file with the origin moves last: until then the move counts as unfinished.
        for name in names.sorted(by: { one, _ in one != "_mirror.json" }) {
            guard rename("\(path)/\(name)", "\(folder)/\(name)") == 0 else {
                throw MirrorError(message: "cannot move \(path)/\(name); check mirror.directory")
            }
        }
        return folder
    }

    // MARK: Reading

    /// Nil when there is no mirror.
    func origin() throws -> Origin? {
        guard FileManager.default.fileExists(atPath: originPath) else { return nil }
        let document = try document(originPath)
        guard let schema = document["schema"]?.string, let epoch = document["epoch"]?.string else {
            throw MirrorError(
                message: "\(originPath) is damaged: it has no schema or epoch; move it away, and the daemon writes it "
                    + "again")
        }
        return Origin(
            schema: schema, upstream: document["upstream"]?.string, account: document["account"]?.string, epoch: epoch)
    }

    /// Empty when the file does not exist.
    func records(of entity: String) throws -> [JSONText] { try list(recordsPath(entity)) }

    func queue() throws -> [ExportedChange] {
        do {
            return try list(queuePath).map { try JSONDecoder().decode(ExportedChange.self, from: Data($0.bytes)) }
        } catch let error as DecodingError {
            throw MirrorError(
                message: "\(queuePath) has an invalid change (\(error)); fix the file, or move it away to import "
                    + "without it")
        }
    }

    func reminders() throws -> [JSONText] { try list(remindersPath) }

    private func list(_ path: String) throws -> [JSONText] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let document = try document(path)
        guard document.kind == .array else {
            throw MirrorError(
                message: "\(path) is not a JSON array; fix the file, or move it away to import without it")
        }
        return document.elements
    }

    private func document(_ path: String) throws -> JSONText {
        do {
            return try JSONText(Array(MirrorFile(path: path).contents()))
        } catch {
            throw MirrorError(
                message: "cannot read \(path) (\(error)); fix the file, or move it away to import without it")
        }
    }
}

/// Writes a JSON array element by element, one per line.
private struct ListWriter {
    let piece: (String) throws -> Void
    private var isFirst = true

    init(piece: @escaping (String) throws -> Void) { self.piece = piece }

    mutating func append(_ element: String) throws {
        try piece(isFirst ? "[\n" : ",\n")
        try piece(element)
        isFirst = false
    }

    func end() throws { try piece(isFirst ? "[]\n" : "\n]\n") }
}
