import CacheStore
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

    /// Each file contains the address of its upstream, or nothing.
    private func state(_ origin: CacheOrigin) throws -> StateDirectory {
        try StateDirectory(path: folder, origin: origin) { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8), !text.isEmpty else { return nil }
            let parts = text.split(separator: " ").map(String.init)
            return CacheOrigin(schema: parts[0], upstream: parts[1])
        }
    }

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
}
