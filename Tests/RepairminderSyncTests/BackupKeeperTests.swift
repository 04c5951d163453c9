import CacheStore
import EntitySchema
import Foundation
import Logging
import SQLiteStore
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Automatic backups")
struct BackupKeeperTests {
    private static let schema = """
        schema: shop
        upstream: { base_url: "http://localhost", pagination: { style: page } }
        entities: { orders: { pull: { path: /orders }, fields: { id: { type: string } } } }
        """

    /// A keeper with its own store and a time that the test sets.
    private final class Scene: Sendable {
        let folder: TemporaryFolder
        let store: CacheStore
        let time = Mutex(Timestamp.sample)

        init() throws {
            folder = try TemporaryFolder()
            store = try CacheStore(
                path: folder.path + "/shop-new.db", schema: EntitySchema(yaml: schema, file: "shop.yaml"),
                sealer: SecretSealer.sample(),
                makeID: { UUID().uuidString })
        }

        var backups: BackupFolder { BackupFolder(stateDirectory: folder.path, database: store.path) }

        func keep(every: Duration? = .seconds(86_400), keep: Int = 7, days: Int = 30) async throws {
            try await BackupKeeper(
                store: store, folder: backups,
                settings: Configuration.Backup(every: every, keep: keep, keepDays: days),
                now: { self.time.withLock { $0 } }, clock: ContinuousClock(),
                log: .silent
            ).runDueTasks()
        }

        func pass(days: Int) { time.withLock { $0 = $0 + .seconds(days * 86_400) } }
    }

    @Test("the first backup is made immediately, the next a day later")
    func daily() async throws {
        let scene = try Scene()
        try await scene.keep()
        try await scene.keep()
        #expect(scene.backups.backups.count == 1)
        scene.pass(days: 1)
        try await scene.keep()
        #expect(scene.backups.backups.count == 2)
        let now = scene.time.withLock { $0 }
        #expect(scene.backups.newest(at: now) == now)
    }

    @Test("a backup made while the clock was years ahead does not make others due")
    func ahead() async throws {
        let scene = try Scene()
        scene.pass(days: 3650)
        try await scene.keep()
        scene.pass(days: -3650)
        for _ in 0..<3 { try await scene.keep() }
        #expect(scene.backups.backups.count == 2)
        scene.pass(days: 1)
        try await scene.keep()
        #expect(scene.backups.backups.count == 3)
    }

    @Test("backups made while the clock was years ahead are replaced by those made since")
    func replaced() async throws {
        let scene = try Scene()
        scene.pass(days: 3650)
        for _ in 0..<3 {
            try await scene.keep(keep: 3)
            scene.pass(days: 1)
        }
        scene.pass(days: -3653)
        var times: [Timestamp] = []
        for _ in 0..<3 {
            try await scene.keep(keep: 3)
            times.append(scene.time.withLock { $0 })
            scene.pass(days: 1)
        }
        let names = scene.backups.backups.map { ($0 as NSString).lastPathComponent }
        #expect(names.compactMap(DatabaseFile.time) == times.reversed())
    }

    @Test("a backup from before the clock was set back counts as older than one made since")
    func order() async throws {
        let scene = try Scene()
        scene.pass(days: 3650)
        try await scene.keep()
        scene.pass(days: -3650)
        try await scene.keep()
        let now = scene.time.withLock { $0 }
        let names = scene.backups.backups(at: now).map { ($0 as NSString).lastPathComponent }
        #expect(names.compactMap(DatabaseFile.time) == [now, now + .seconds(3650 * 86_400)])
    }

    @Test("the mode of a directory inside of the state directory does not stop backups")
    func openDirectory() async throws {
        let scene = try Scene()
        try await scene.keep()
        let directory = try #require(scene.backups.backups.first.map { ($0 as NSString).deletingLastPathComponent })
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
        scene.pass(days: 1)
        try await scene.keep()
        #expect(scene.backups.backups.count == 2)
    }

    @Test("the newest backups are kept, up to the configured number")
    func number() async throws {
        let scene = try Scene()
        for _ in 0..<5 {
            try await scene.keep(keep: 3)
            scene.pass(days: 1)
        }
        let names = scene.backups.backups.map { String($0.split(separator: "/").last ?? "") }
        #expect(names.count == 3)
        #expect(names.first?.hasPrefix("20261125") == true && names.first?.hasSuffix("-daily.db") == true)
    }

    @Test("the newest from before an upgrade is kept besides, until it is old")
    func upgrade() async throws {
        let scene = try Scene()
        let path = try scene.backups.path(for: .upgrade, at: scene.time.withLock { $0 })
        try await scene.store.backUp(to: path)
        for _ in 0..<5 {
            scene.pass(days: 1)
            try await scene.keep(keep: 2, days: 10)
        }
        #expect(scene.backups.backups.count == 3 && scene.backups.backups.last == path)
        scene.pass(days: 6)
        try await scene.keep(keep: 2, days: 10)
        #expect(!scene.backups.backups.contains(path))
    }

    @Test("old backups are deleted, but never the last")
    func age() async throws {
        let scene = try Scene()
        try await scene.keep(days: 10)
        scene.pass(days: 1)
        try await scene.keep(days: 10)
        scene.pass(days: 100)
        try await scene.keep(every: nil, days: 10)
        #expect(scene.backups.backups.count == 1)
    }

    @Test("a backup that cannot be made keeps no old one, and does not keep the database from being checked")
    func withoutRoom() async throws {
        let scene = try Scene()
        for _ in 0..<3 {
            try await scene.keep()
            scene.pass(days: 1)
        }
        let now = scene.time.withLock { $0 }
        let next = try scene.backups.path(for: .daily, at: now)
        // In the way of the copy.
        try FileManager.default.createDirectory(atPath: "\(next).part", withIntermediateDirectories: false)
        await #expect(throws: CacheError.self) { try await scene.keep(keep: 1) }
        #expect(scene.backups.backups.count == 1)
        #expect(try scene.store.setting("checked_at") == now.description)
    }

    @Test("without backups the database is still checked")
    func off() async throws {
        let scene = try Scene()
        try await scene.keep(every: nil)
        #expect(scene.backups.backups.isEmpty)
        #expect(try scene.store.setting("checked_at") == scene.time.withLock { $0 }.description)
    }
}
