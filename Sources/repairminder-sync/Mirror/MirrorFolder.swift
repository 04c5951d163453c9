import CacheStore
import EntitySchema
import Foundation
import JSONText

/// The folder of a mirror: `<entity>.json` for each entity, `_queue.json` with what is not sent yet, `_reminders.json` with
/// what became of reminders, `_mirror.json` that says of which cache it is. Names of entities never begin with `_`.
struct MirrorFolder {
    /// Whose records these are.
    struct Origin: Equatable {
        var schema: String
        /// Nil while nobody has said it.
        var upstream: String?
        var account: String?
        /// Names the database.
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

    /// Made for its owner alone where it is not there.
    func make() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw MirrorError(message: "\(path) cannot be made (\(error)); name another folder as mirror.directory")
        }
    }

    // MARK: Writing

    func write(_ origin: Origin) throws {
        try MirrorFile(path: originPath).write { try $0(origin.document.text + "\n") }
    }

    /// The queue goes before the records: of a change that is in neither nothing would be left.
    func writeQueue(of store: CacheStore) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try write(store.storedChanges().map { try JSONText(Array(encoder.encode($0))) }, to: queuePath)
    }

    func writeReminders(of store: CacheStore) throws { try write(store.storedReminders(), to: remindersPath) }

    private func write(_ elements: [JSONText], to path: String) throws {
        try MirrorFile(path: path).write { piece in
            var list = ListWriter(piece: piece)
            for element in elements { try list.append(element.text) }
            try list.end()
        }
    }

    func writeRecords(of entity: String, _ store: CacheStore) throws {
        try MirrorFile(path: recordsPath(entity)).write { piece in
            var list = ListWriter(piece: piece)
            try store.forEachStoredRecord(of: entity) { try list.append($0) }
            try list.end()
        }
    }

    /// Moves the mirror of another cache into a folder of its own, so that it is there if that cache is lost. Returns the
    /// folder.
    func setAside(_ origin: Origin) throws -> String {
        let folder = "\(path)/before-\(origin.epoch.filter { $0.isLetter || $0.isNumber })"
        try MirrorFolder(path: folder).make()
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }
        // What says whose they are goes last: until then the move is not over.
        for name in names.sorted(by: { one, _ in one != "_mirror.json" }) {
            guard rename("\(path)/\(name)", "\(folder)/\(name)") == 0 else {
                throw MirrorError(message: "\(path)/\(name) cannot be moved; check mirror.directory")
            }
        }
        return folder
    }

    // MARK: Reading

    /// Nil where there is no mirror.
    func origin() throws -> Origin? {
        guard FileManager.default.fileExists(atPath: originPath) else { return nil }
        let document = try document(originPath)
        guard let schema = document["schema"]?.string, let epoch = document["epoch"]?.string else {
            throw MirrorError(message: "\(originPath) does not say of which cache the mirror is; it is damaged")
        }
        return Origin(
            schema: schema, upstream: document["upstream"]?.string, account: document["account"]?.string, epoch: epoch)
    }

    /// Empty where there is no such file.
    func records(of entity: String) throws -> [JSONText] { try list(recordsPath(entity)) }

    func queue() throws -> [ExportedChange] {
        do {
            return try list(queuePath).map { try JSONDecoder().decode(ExportedChange.self, from: Data($0.bytes)) }
        } catch let error as DecodingError {
            throw MirrorError(
                message: "\(queuePath) holds something that is no change (\(error)); mend it, or take it away to go on "
                    + "without it")
        }
    }

    func reminders() throws -> [JSONText] { try list(remindersPath) }

    private func list(_ path: String) throws -> [JSONText] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let document = try document(path)
        guard document.kind == .array else {
            throw MirrorError(message: "\(path) holds no list; mend it, or take it away to go on without it")
        }
        return document.elements
    }

    private func document(_ path: String) throws -> JSONText {
        do {
            return try JSONText(Array(Data(contentsOf: URL(filePath: path))))
        } catch {
            throw MirrorError(
                message: "\(path) cannot be read (\(error)); mend it, or take it away to go on without it")
        }
    }
}

/// A JSON array with one element a line, written as it comes.
private struct ListWriter {
    let piece: (String) throws -> Void
    private var isFirst = true

    init(piece: @escaping (String) throws -> Void) {
        self.piece = piece
    }

    mutating func append(_ element: String) throws {
        try piece(isFirst ? "[\n" : ",\n")
        try piece(element)
        isFirst = false
    }

    func end() throws { try piece(isFirst ? "[]\n" : "\n]\n") }
}
