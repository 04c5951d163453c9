import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("A backup into a folder where others may write, such as /tmp")
struct SharedFolderBackupTests {
    private let temporary: TemporaryFolder
    private let config: String

    init() throws {
        temporary = try TemporaryFolder()
        for name in ["state", "shared"] {
            try FileManager.default.createDirectory(
                atPath: temporary.path(name), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        config = try temporary.makeHome(state: temporary.path("state"))
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await Program.run("repairminder-sync", arguments + ["--config", config])
    }

    @Test("a journal that another user plants beside it does not have SQLite delete a file, nor is the backup lost")
    func plantedJournal() async throws {
        #expect(try await run("import-mirror", temporary.path("mirror")).status == 0)
        let precious = try temporary.write("precious", to: "precious")
        // The planter can come too late for one.
        for number in 0..<3 {
            let file = temporary.path("shared/\(number).db")
            let planter = JournalPlanter(
                Self.journal(naming: precious), beside: "\(file).part", preparedAt: temporary.path("prepared"))
            let made = try await run("backup", file)
            planter.end()
            #expect(made.status == 0, "\(made.output)")
            #expect(FileManager.default.fileExists(atPath: file))
            #expect((try? String(contentsOfFile: precious, encoding: .utf8)) == "precious")
        }
    }

    /// Makes the backup `shared/b.db`.
    private func backUp() async throws -> String {
        try #require(try await run("import-mirror", temporary.path("mirror")).status == 0)
        let file = temporary.path("shared/b.db")
        try #require(try await run("backup", file).status == 0)
        return file
    }

    @Test(
        "a log that another user puts beside a backup is not read, and the restore says so",
        arguments: ["wal", "journal"])
    func plantedLog(_ suffix: String) async throws {
        let file = try await backUp()
        let log = try temporary.write("records of another database", to: "shared/b.db-\(suffix)")
        let refused = try await run("restore", file)
        #expect(refused.status == 65, "\(refused.output)")
        #expect(refused.output.contains("b.db-\(suffix), which restore does not read"), "\(refused.output)")
        try FileManager.default.removeItem(atPath: log)
        #expect(try await run("restore", file).status == 0)
    }

    @Test("a backup is read from a copy in the state directory, also one that SQLite would make a log for")
    func copied() async throws {
        let file = try await backUp()
        let bytes = try FileHandle(forUpdating: URL(filePath: file))
        // Both versions of the file's format: with a write-ahead log.
        try bytes.seek(toOffset: 18)
        try bytes.write(contentsOf: Data([2, 2]))
        try bytes.close()
        let restored = try await run("restore", file)
        #expect(restored.status == 0, "\(restored.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path("shared")) == ["b.db"])
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path("state"))
        #expect(!left.contains { $0.hasPrefix("copy-") }, "\(left)")
    }

    @Test("a backup can be named by a link")
    func link() async throws {
        let link = temporary.path("latest.db")
        try #require(symlink(try await backUp(), link) == 0)
        let restored = try await run("restore", link)
        #expect(restored.status == 0, "\(restored.output)")
    }

    @Test("a database in the state directory is read with its log, which only the daemon can have made")
    func ownFile() async throws {
        let file = try await backUp()
        let own = temporary.path("state/own.db")
        try FileManager.default.copyItem(atPath: file, toPath: own)
        try temporary.write("SQLite ignores it", to: "state/own.db-wal")
        let restored = try await run("restore", own)
        #expect(restored.status == 0, "\(restored.output)")
    }

    @Test("what is wrong with a file is said with its own name")
    func names() async throws {
        _ = try await backUp()
        let text = try temporary.write("no database", to: "shared/text.db")
        for file in [text, temporary.path("shared/missing.db")] {
            let refused = try await run("restore", file)
            #expect(refused.status == 65 && refused.output.contains(file), "\(refused.output)")
            #expect(!refused.output.contains("copy-"), "\(refused.output)")
        }
    }

    @Test("an export of the queue there deletes no other file, and replaces no link in the place of its own")
    func export() async throws {
        #expect(try await run("import-mirror", temporary.path("mirror")).status == 0)
        let other = try temporary.write("precious", to: "shared/queue.ndjson.new")
        let made = try await run("queue", "export", temporary.path("shared/queue.ndjson"))
        #expect(made.status == 0, "\(made.output)")
        #expect((try? String(contentsOfFile: other, encoding: .utf8)) == "precious")
        let link = temporary.path("shared/link.ndjson")
        try #require(symlink(temporary.path("elsewhere"), link) == 0)
        let refused = try await run("queue", "export", link)
        #expect(refused.status == 75, "\(refused.output)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == temporary.path("elsewhere"))
        #expect(access(temporary.path("elsewhere"), F_OK) != 0)
    }

    /// A rollback journal with no pages that has a file's name as that of its super-journal (SQLite's file format, 3): once
    /// SQLite has rolled it back, it deletes that file.
    private static func journal(naming file: String) -> Data {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let (pageSize, sectorSize): (UInt32, UInt32) = (4096, 512)
        var journal = Data(magic)
        func append(_ numbers: UInt32...) {
            for number in numbers { journal.append(contentsOf: withUnsafeBytes(of: number.bigEndian, Array.init)) }
        }
        // No pages, a nonce, and one page in the database before.
        append(0, 7, 1, sectorSize, pageSize)
        journal.append(Data(count: Int(sectorSize) - journal.count))
        let name = Array(file.utf8)
        // The number of the page that locks lie on, then the name, its length and its sum.
        append(0x4000_0000 / pageSize + 1)
        journal.append(contentsOf: name)
        append(UInt32(name.count), name.reduce(0) { $0 + UInt32($1) })
        journal.append(contentsOf: magic)
        return journal
    }
}

/// Plants a journal beside a database as soon as the database is there, again and again.
private final class JournalPlanter: Sendable {
    private let journal: Data
    private let database: String
    private let prepared: String
    private let hasEnded = Atomic(false)

    init(_ journal: Data, beside database: String, preparedAt prepared: String) {
        self.journal = journal
        self.database = database
        self.prepared = prepared
        Thread.detachNewThread { [self] in plant() }
    }

    func end() { hasEnded.store(true, ordering: .relaxed) }

    private func plant() {
        while !hasEnded.load(ordering: .relaxed) {
            guard access(database, F_OK) == 0 else { continue }
            // Written before each try, because SQLite changes the one that it finds.
            guard (try? journal.write(to: URL(filePath: prepared))) != nil else { return }
            link(prepared, "\(database)-journal")
            unlink(prepared)
        }
    }
}
