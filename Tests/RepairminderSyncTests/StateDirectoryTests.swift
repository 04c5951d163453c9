import CacheStore
import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct StateDirectoryTests {
    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }
    private let here = CacheOrigin(schema: "shop", upstream: "https://a.example")
    private let there = CacheOrigin(schema: "shop", upstream: "https://b.example/")

    init() throws {
        temporary = try TemporaryFolder()
        try #require(chmod(temporary.path, 0o700) == 0)
    }

    @Test("one that others can enter is refused, and the command that closes it is named for no other directory")
    func openDirectory() throws {
        try #require(chmod(folder, 0o755) == 0)
        let empty = #expect(throws: StateError.self) { try StateDirectory.make(folder) }
        #expect(empty?.message.hasSuffix("(mode 755); run chmod go= \(folder)") == true)
        try write("report.txt", nil)
        let other = #expect(throws: StateError.self) { try StateDirectory.make(folder) }
        #expect(other?.message.hasSuffix("it has other files: choose a directory of its own") == true)
        try write("current.db", nil)
        let own = #expect(throws: StateError.self) { try StateDirectory.make(folder) }
        #expect(own?.message.hasSuffix("run chmod go= \(folder)") == true)
    }

    /// Each file contains the address of its upstream and perhaps its account and the number of its changes, or nothing.
    private func state(_ origin: CacheOrigin) throws -> StateDirectory {
        try StateDirectory(
            path: folder, origin: origin,
            originOf: { path in
                let parts = Self.parts(path)
                return parts.count < 2 ? nil : CacheOrigin(schema: parts[0], upstream: parts[1])
            },
            ownerOf: { path in
                let parts = Self.parts(path)
                return parts.count < 4 ? nil : CacheOwner(account: parts[2], hasQueue: parts[3] != "0")
            })
    }

    private static func parts(_ path: String) -> [String] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ").map(String.init)
    }

    private func write(_ name: String, of account: String, changes: Int) throws {
        try "shop https://a.example \(account) \(changes)".write(
            toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(folder)/\(name)") }

    private func write(_ name: String, _ origin: CacheOrigin?) throws {
        let text = origin.map { "\($0.schema) \($0.upstream ?? "")" } ?? ""
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    private func chosen(_ origin: CacheOrigin) throws -> String {
        let path = try state(origin).choose()
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/current.db")
        #expect("\(folder)/\(target)" == path)
        return target
    }

    @Test("the database in use is read once to find it: another program's lock on it is waited for")
    func readOnce() throws {
        try write("shop-new.db", here)
        _ = try chosen(here)
        let asked = Counter()
        let origin = here
        let state = try state(here).asking { _ in
            asked.next()
            return origin
        }
        #expect(state.inUse == "\(folder)/shop-new.db")
        #expect(asked.count == 1)
    }

    @Test("a token that is not UTF-8 is refused, since no caller can send it")
    func otherToken() throws {
        let path = "\(folder)/api-token"
        try Data([0x61, 0xFF]).write(to: URL(filePath: path))
        try #require(chmod(path, 0o600) == 0)
        let error = #expect(throws: StateError.self) { try state(here).apiToken() }
        #expect(error?.message.contains("is not UTF-8 text") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data([0x61, 0xFF]))
    }

    @Test("a token that can be guessed is refused, and one of eight characters is not")
    func shortToken() throws {
        let path = "\(folder)/api-token"
        for (token, isRefused) in [("secret\n", true), ("  1234567  ", true), ("12345678", false)] {
            try Data(token.utf8).write(to: URL(filePath: path))
            try #require(chmod(path, 0o600) == 0)
            guard isRefused else {
                #expect(try state(here).apiToken() == "12345678")
                continue
            }
            let error = #expect(throws: StateError.self) { try state(here).apiToken() }
            #expect(error?.message.contains("at least 8 characters") == true && error?.isOpenToOthers == true)
        }
    }

    @Test("the first cache is called new until its account is known, then renamed after it")
    func first() throws {
        #expect(try chosen(here) == "shop-new.db")
        try write("shop-new.db", here)
        try write("shop-new.db-wal", nil)
        let state = try state(here)
        #expect(try state.name(state.choose(), after: "company_1") == "\(folder)/shop-company_1.db")
        #expect(try chosen(here) == "shop-company_1.db")
        #expect(FileManager.default.fileExists(atPath: "\(folder)/shop-company_1.db-wal"))
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/shop-new.db"))
    }

    @Test(
        "an account id that is no plain name is hashed in the name of its file",
        arguments: [
            "", "company 1", "../../etc/passwd", ".", "..", ".hidden", "a/b", "ключ", "a\nb", "~a", "%41",
            String(repeating: "a", count: 65), String(repeating: "x", count: 100_000),
        ])
    func hashed(_ account: String) throws {
        let path = try state(here).path(for: account)
        let name = try #require(path.split(separator: "/").last)
        #expect(path == "\(folder)/\(name)")
        #expect(name.wholeMatch(of: /shop-~[0-9a-f]{32}\.db/) != nil, "\(name)")
        #expect(try state(here).path(for: account + "!") != path)
    }

    @Test("a plain account id is the name of its file", arguments: ["1", "A.b_c-9", String(repeating: "a", count: 64)])
    func plain(_ account: String) throws {
        #expect(try state(here).path(for: account) == "\(folder)/shop-\(account).db")
    }

    @Test("a file that an older version named after its account keeps its name")
    func olderName() throws {
        try write("shop-company%201.db", here)
        let state = try state(here)
        try state.use(account: "company 1")
        #expect(try chosen(here) == "shop-company%201.db")
        #expect(try state.isNamed(state.choose(), after: "company 1"))
    }

    @Test("another account gets its own file, and switching back finds the first")
    func accounts() throws {
        try write("shop-1.db", here)
        try state(here).use(account: "1")
        #expect(try chosen(here) == "shop-1.db")
        try state(here).use(account: "2")
        #expect(try chosen(here) == "shop-2.db")
        try write("shop-2.db", here)
        try state(here).use(account: "1")
        #expect(try chosen(here) == "shop-1.db")
    }

    @Test("another upstream gets its own file before any request, even for the same account")
    func upstreams() throws {
        try write("shop-1.db", here)
        try state(here).use(account: "1")
        #expect(try chosen(there) == "shop-new.db")
        try write("shop-new.db", there)
        let state = try state(there)
        let named = try state.name(state.choose(), after: "1")
        #expect(named.contains("/shop-1@"))
        #expect(try chosen(there).hasPrefix("shop-1@"))
        #expect(try chosen(here) == "shop-1.db")
        #expect(try chosen(there).hasPrefix("shop-1@"))
    }

    @Test("a file without an origin counts as ours when current.db points to it")
    func unknownOrigin() throws {
        try write("shop-1.db", nil)
        try state(here).use(account: "1")
        #expect(try chosen(there) == "shop-1.db")
        try FileManager.default.removeItem(atPath: "\(folder)/current.db")
        #expect(try chosen(there) == "shop-new.db")
    }

    @Test("while the upstream's address is unknown the cache in use stays and is not renamed")
    func noAddress() throws {
        let nowhere = CacheOrigin(schema: "shop", upstream: nil)
        #expect(try chosen(nowhere) == "shop-new.db")
        try write("shop-new.db", nil)
        #expect(try chosen(here) == "shop-new.db")
        try write("shop-new.db", here)
        #expect(try chosen(nowhere) == "shop-new.db")
        let state = try state(nowhere)
        #expect(try state.name("\(folder)/shop-new.db", after: "1") == "\(folder)/shop-new.db")
        #expect(try chosen(CacheOrigin(schema: "other", upstream: nil)) == "other-new.db")
    }

    @Test("a schema does not use the file of a schema whose name it begins with")
    func schemas() throws {
        let live = CacheOrigin(schema: "shop-live", upstream: "https://a.example")
        try write("shop-live-1.db", live)
        try state(live).use(account: "1")
        #expect(try chosen(here) == "shop-new.db")
        #expect(try state(here).path(for: "live-1").contains("/shop-live-1@"))
    }

    @Test("renaming a cache after its account never replaces a file")
    func kept() throws {
        try write("shop-1.db", here)
        try write("shop-new.db", here)
        let state = try state(here)
        #expect(try state.name("\(folder)/shop-new.db", after: "1") == "\(folder)/shop-new.db")
        #expect(FileManager.default.fileExists(atPath: "\(folder)/shop-new.db"))
    }

    // MARK: A database that is not named after its account

    @Test("the first database is named after its account when another one signs in, and comes back with its queue")
    func namedAtTheSwitch() throws {
        #expect(try chosen(here) == "shop-new.db")
        try write("shop-new.db", of: "1", changes: 2)
        try state(here).use(account: "2")
        #expect(try chosen(here) == "shop-2.db")
        #expect(exists("shop-1.db"))
        #expect(!exists("shop-new.db"))
        try write("shop-2.db", of: "2", changes: 0)
        try state(here).use(account: "1")
        #expect(try chosen(here) == "shop-1.db")
    }

    @Test("an account that comes back finds its changes, whatever the name of their database")
    func leftBehind() throws {
        try write("shop-new.db", of: "1", changes: 2)
        try write("shop-2.db", of: "2", changes: 1)
        try state(here).use("\(folder)/shop-2.db")
        try state(here).use(account: "1")
        #expect(try chosen(here) == "shop-new.db")
    }

    @Test("a start takes the changes that were left behind if none waits in the database in use", arguments: [0, 1])
    func adopted(changes: Int) throws {
        try write("shop-new.db", of: "1", changes: 2)
        try write("shop-1.db", of: "1", changes: changes)
        try state(here).use("\(folder)/shop-1.db")
        let state = try state(here)
        let path = try state.adopt(insteadOf: state.choose())
        #expect(path == "\(folder)/" + (changes == 0 ? "shop-new.db" : "shop-1.db"))
        #expect(try chosen(here) == (changes == 0 ? "shop-new.db" : "shop-1.db"))
        #expect(state.left(by: "1", besides: path) == (changes == 0 ? [] : ["\(folder)/shop-new.db"]))
    }

    @Test("changes that wait for another upstream are named with its address, those of another schema with its name")
    func leftElsewhere() throws {
        let former = CacheOrigin(schema: "shop", upstream: "https://b.example")
        for (name, origin, changes) in [
            ("shop-new.db", here, 3), ("shop-3.db", former, 2), ("shop-4.db", former, 0),
            ("shop-two-5.db", CacheOrigin(schema: "shop-two", upstream: "https://b.example"), 1),
        ] {
            try "\(origin.schema) \(origin.upstream ?? "") 1 \(changes)"
                .write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        let left = try state(here).leftElsewhere(besides: "\(folder)/shop-new.db")
        #expect(left.map(\.path) == ["\(folder)/shop-3.db"] && left.map(\.upstream) == ["https://b.example"])
        let others = try state(here).leftByOtherSchemas()
        #expect(others.map(\.path) == ["\(folder)/shop-two-5.db"] && others.map(\.schema) == ["shop-two"])
    }

    @Test("changes that wait for another account of this upstream are named with that account")
    func leftByOthers() throws {
        try write("shop-new.db", of: "1", changes: 3)
        try write("shop-2.db", of: "2", changes: 1)
        try write("shop-3.db", of: "3", changes: 0)
        // A copy with a name of its own.
        try write("shop-copy.db", of: "2", changes: 1)
        try "shop https://b.example 4 2".write(toFile: "\(folder)/shop-4.db", atomically: true, encoding: .utf8)
        let left = try state(here).left(byOthersThan: "1", besides: "\(folder)/shop-1.db")
        #expect(left.map(\.path) == ["\(folder)/shop-2.db"] && left.map(\.account) == ["2"])
        // The cache in use is new, and does not have its account yet.
        let all = try state(here).left(byOthersThan: nil, besides: "\(folder)/shop-5.db")
        #expect(all.map(\.account) == ["2", "1"])
    }

    @Test("changes of another account or upstream are not taken")
    func othersChanges() throws {
        try write("shop-new.db", of: "2", changes: 2)
        try "shop https://b.example 1 2".write(toFile: "\(folder)/shop-3.db", atomically: true, encoding: .utf8)
        try write("shop-1.db", of: "1", changes: 0)
        try state(here).use("\(folder)/shop-1.db")
        let state = try state(here)
        #expect(try state.adopt(insteadOf: state.choose()) == "\(folder)/shop-1.db")
        #expect(state.left(by: "1", besides: "\(folder)/shop-1.db").isEmpty)
    }

    @Test("a crash between the renaming of a database and that of the link loses neither")
    func crashAfterRenaming() throws {
        #expect(try chosen(here) == "shop-new.db")
        try write("shop-1.db", of: "1", changes: 2)
        #expect(try chosen(here) == "shop-1.db")
    }

    @Test("copies that interrupted commands have left are deleted after a day, and nothing else")
    func oldCopies() throws {
        let state = try state(here)
        let id = "df2e407c-fc91-43fe-83d7-de5da141300a"
        let others = ["copy-new.db", "copy-\(id).tmp.db", "copy-of-mine.tmp", "shop-a.db.restore.db"]
        let copies = [
            "copy-\(id).tmp", "copy-\(id).tmp.part", "copy-\(id).tmp.part-journal", "shop-1.db.restore",
            "shop-1.db.restore.part", "shop-1.db.restore-shm",
        ]
        for name in others + copies { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        state.removeOldCopies(at: now + .seconds(80_000))
        #expect(copies.allSatisfy(exists))
        state.removeOldCopies(at: now + .seconds(90_000))
        #expect(copies.filter(exists).isEmpty)
        #expect(others.allSatisfy(exists))
    }
}
