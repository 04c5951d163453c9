internal import Foundation
internal import GRDB
internal import Glibc
internal import SQLiteStore

/// Reads the queue from a damaged database, its log and its backups in every possible way, newest state first.
struct DamagedFile {
    let path: String
    /// Newest first.
    let backups: [String]

    /// All readings; the first is whatever can be read of the file itself. No file is changed.
    ///
    /// Reads outside of transactions, because a transaction cannot end cleanly after a read that met damage.
    func readings() -> [QueueSnapshot] {
        // First, while nothing else has the file open.
        let mark = OpeningCheck.mark(of: path)
        let alone = try? WithoutWAL.reading(path, QueueSnapshot.init(ofOurs:))
        let guardian = LogGuardian(path: path)
        defer { guardian?.close() }
        var whole = repaired() ?? (try? DatabaseFile.openReadOnly(path).unsafeRead(QueueSnapshot.init(ofOurs:)))
        // A log of another database hides what the file itself has.
        let isLogForeign = isForeign(mark, logSeenIn: whole, beside: alone)
        if isLogForeign { whole = nil }
        if let whole, whole.isComplete { return [whole] }
        // None of the following readings is certain to be the latest state.
        var readings = [whole ?? QueueSnapshot()]
        if var scan = QueueSnapshot(scanning: path, withLog: !isLogForeign) {
            // With another database's log in place, the file would show that database's records.
            if isLogForeign {
                scan.takeRecords(from: alone)
            } else {
                _ = try? DatabaseFile.openReadOnly(path).unsafeRead { db in scan.readRecords(db) }
            }
            readings.append(scan)
        }
        if let alone { readings.append(alone) }
        for backup in backups {
            guard let reading = try? DatabaseFile.openReadOnly(backup).unsafeRead(QueueSnapshot.init(ofOurs:)) else {
                continue
            }
            readings.append(reading)
            break
        }
        return readings
    }

    /// Compares the number that every one of our databases has in its first page; if that does not help, its name.
    private func isForeign(_ mark: Int32?, logSeenIn whole: QueueSnapshot?, beside alone: QueueSnapshot?) -> Bool {
        if let mark, mark != 0, let other = PageScan(path: path, withLog: true)?.markOfLog { return other != mark }
        guard let name = alone?.settings["database"] else { return false }
        return whole?.settings["database"] != name
    }

    // MARK: A lost first page

    /// Reads a copy with a repaired first page: SQLite does not open a file without a valid header. Nil if that is not
    /// what is wrong.
    private func repaired() -> QueueSnapshot? {
        guard (try? DatabaseFile.openReadOnly(path)) == nil else { return nil }
        let copy = path + ".repaired"
        func remove() { for suffix in ["", "-wal", "-shm"] { unlink(copy + suffix) } }
        remove()
        defer { remove() }
        for beginning in beginnings() {
            remove()
            guard (try? FileManager.default.copyItem(atPath: path, toPath: copy)) != nil else { continue }
            try? FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
            guard let file = FileHandle(forUpdatingAtPath: copy), (try? file.write(contentsOf: beginning)) != nil,
                (try? file.close()) != nil,
                let reading = try? DatabaseFile.openReadOnly(copy).unsafeRead(QueueSnapshot.init(ofOurs:))
            else { continue }
            return reading
        }
        return nil
    }

    /// The possible first pages: the header alone, which is the same in all our databases, or a backup's first page,
    /// which says where each table begins; that never changes.
    private func beginnings() -> [Data] {
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        var found = [header(pageCount: size / Self.pageSize)]
        for backup in backups.prefix(1) {
            let file = FileHandle(forReadingAtPath: backup)
            guard var page = try? file?.read(upToCount: Self.pageSize), page.count == Self.pageSize else { continue }
            page.replaceSubrange(0..<Self.headerSize, with: header(pageCount: size / Self.pageSize))
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
        guard try db.tableExists("sync_outbox") else { throw CacheError.damaged("the file has no queue") }
        self.init(db)
    }
}
