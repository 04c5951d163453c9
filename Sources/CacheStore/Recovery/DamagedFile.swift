internal import Foundation
internal import GRDB
internal import SQLiteStore

/// Reads the queue from a damaged database, its log and its backups in every possible way, newest state first.
struct DamagedFile {
    let path: String
    /// Newest first.
    let backups: [String]

    /// Calls `body` with each reading; the first is whatever can be read of the file itself. No file is changed.
    ///
    /// Lets go of each reading before the next, because each can be large. Reads outside of transactions, because a
    /// transaction cannot end cleanly after a read that met damage.
    func forEachReading(_ body: (QueueSnapshot) -> Void) {
        // First, while nothing else has the file open.
        let hasForeignMark = hasForeignMark
        // Only where the numbers do not say it.
        let name = hasForeignMark == nil ? (try? WithoutWAL.reading(path, QueueSnapshot.databaseName(ofOurs:))) : nil
        let whole = preservingLog { repaired() ?? reading(of: path) }
        let isLogForeign = hasForeignMark ?? (name != nil && whole?.settings["database"] != name)
        // A log of another database hides what the file itself has.
        let first = (isLogForeign ? nil : whole) ?? QueueSnapshot()
        body(first)
        if first.isComplete { return }
        // None of the following readings is certain to be the latest state.
        forEachOlderReading(isLogForeign: isLogForeign, body)
    }

    private func forEachOlderReading(isLogForeign: Bool, _ body: (QueueSnapshot) -> Void) {
        // With another database's log in place, the file would show that database's records.
        let alone = isLogForeign ? readingAlone : nil
        if var scan = QueueSnapshot(scanning: path, withLog: !isLogForeign) {
            if isLogForeign {
                scan.takeRecords(from: alone)
            } else {
                preservingLog { _ = try? DatabaseFile.openReadOnly(path).unsafeRead { db in scan.readRecords(db) } }
            }
            body(scan)
        }
        if let alone = alone ?? readingAlone { body(alone) }
        for backup in backups {
            guard let reading = reading(of: backup) else { continue }
            return body(reading)
        }
    }

    private func reading(of path: String) -> QueueSnapshot? {
        try? DatabaseFile.openReadOnly(path).unsafeRead(QueueSnapshot.init(ofOurs:))
    }

    /// The file without its log. Nothing else may have it open.
    private var readingAlone: QueueSnapshot? { try? WithoutWAL.reading(path, QueueSnapshot.init(ofOurs:)) }

    /// Whether the number in the first page, which each of our databases has, is another in the log; nil if one of them
    /// cannot be read.
    private var hasForeignMark: Bool? {
        guard let mark = OpeningCheck.mark(of: path), mark != 0,
            let other = PageScan(path: path, withLog: true)?.markOfLog
        else { return nil }
        return other != mark
    }

    /// While `body` opens and closes the file, its log stays as it is.
    private func preservingLog<Result>(_ body: () -> Result) -> Result {
        let guardian = LogGuardian(path: path)
        defer { guardian?.close() }
        return body()
    }

    // MARK: A lost first page

    /// Reads a copy with a repaired first page: SQLite does not open a file without a valid header. Nil if that is not
    /// what is wrong.
    private func repaired() -> QueueSnapshot? {
        guard (try? DatabaseFile.requireRegular(path)) != nil, (try? DatabaseFile.openReadOnly(path)) == nil,
            mayBeCopied
        else { return nil }
        let copy = path + ".repaired"
        defer { DatabaseFile(copy).delete() }
        for beginning in beginnings() {
            DatabaseFile(copy).delete()
            guard (try? FileManager.default.copyItem(atPath: path, toPath: copy)) != nil else { continue }
            try? FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
            guard let file = FileHandle(forUpdatingAtPath: copy), (try? file.write(contentsOf: beginning)) != nil,
                (try? file.close()) != nil,
                let reading = reading(of: copy)
            else { continue }
            return reading
        }
        return nil
    }

    /// Whether there is room for a copy, and the file is not one of holes, which another program can have made of any length.
    private var mayBeCopied: Bool {
        guard let file = ScannedFile(path: path), let free = DiskSpace(beside: path)?.free else { return false }
        return !file.isHollow && DatabaseFile.size(of: [path, path + "-wal"]) <= free
    }

    /// The possible first pages: the header alone, which is the same in all our databases, or a backup's first page,
    /// which says where each table begins; that never changes.
    private func beginnings() -> [Data] {
        let header = header(pageCount: DatabaseFile.size(of: [path]) / Self.pageSize)
        var found = [header]
        for backup in backups.prefix(1) {
            let file = FileHandle(forReadingAtPath: backup)
            guard var page = try? file?.read(upToCount: Self.pageSize), page.count == Self.pageSize else { continue }
            page.replaceSubrange(0..<Self.headerSize, with: header)
            found.append(page)
        }
        return found
    }

    private static let pageSize = 4096
    private static let headerSize = 100

    /// The database header (SQLite's file format, 1.3) of a file in WAL mode with an empty list of free pages.
    private func header(pageCount: Int) -> Data {
        var header = Data("SQLite format 3\0".utf8)
        func append(_ number: UInt32) { header.append(contentsOf: withUnsafeBytes(of: number.bigEndian, Array.init)) }
        header.append(contentsOf: [UInt8(Self.pageSize >> 8), 0, 2, 2, 0, 64, 32, 32])
        let changes: UInt32 = 1
        append(changes)
        append(UInt32(clamping: pageCount))
        // No free pages; schema cookie 1, schema format 4; no cache size, no vacuum root; UTF-8.
        for number: UInt32 in [0, 0, 1, 4, 0, 0, 1, 0, 0, 0] { append(number) }
        header.append(Data(count: 20))
        append(changes)
        append(3_040_001)
        return header
    }
}

extension QueueSnapshot {
    /// Throws if the file does not contain a queue of ours.
    fileprivate init(ofOurs db: Database) throws {
        try Self.requireQueue(db)
        self.init(db)
    }

    /// The database's name; nil if it cannot be read. Throws if the file does not contain a queue of ours.
    fileprivate static func databaseName(ofOurs db: Database) throws -> String? {
        try requireQueue(db)
        return Self.settings(db)["database"]
    }

    private static func requireQueue(_ db: Database) throws {
        guard try db.tableExists("sync_outbox") else { throw CacheError.damaged("the file has no queue") }
    }
}
