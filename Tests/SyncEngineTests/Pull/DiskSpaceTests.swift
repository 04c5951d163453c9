import EntitySchema
import SQLiteStore
import Synchronization
import TestSupport
import Testing

@testable import CacheStore
@testable import SyncEngine

@Suite("A pull onto a disk that fills up")
struct DiskSpaceTests {
    private func page(_ number: Int) -> String { #"[{"id":"k\#(number)","updated_at":"2026-01-01"}]"# }

    /// A puller that finds room for so many pages.
    private func puller(_ test: TestPull, pages: Int) -> Puller {
        let asked = Counter()
        var puller = test.puller()
        puller.space = {
            asked.next()
            return DiskSpace(free: asked.count > pages ? 63 << 20 : 65 << 20, total: 1 << 40)
        }
        return puller
    }

    @Test("reads no further page than there is room for, keeps what it has, and says why")
    func stops() async throws {
        let test = try TestPull()
        try test.upstream.serve((0..<9).map(page))
        let orders = try #require(test.schema["orders"])
        let error = await #expect(throws: CacheError.self) {
            try await puller(test, pages: 3).pull(orders, full: false)
        }
        let said = error.map { "\($0)" } ?? ""
        #expect(said.hasPrefix("no more records are read, because the disk has only 63 MiB free"))
        #expect(test.upstream.requests.count == 3)
        #expect(try test.keys().count == 3)
    }

    @Test("goes on where it stopped once there is room")
    func goesOn() async throws {
        let test = try TestPull()
        try test.upstream.serve((0..<9).map(page))
        let orders = try #require(test.schema["orders"])
        _ = try? await puller(test, pages: 3).pull(orders, full: false)
        _ = try await puller(test, pages: 100).pull(orders, full: false)
        #expect(try test.keys().count == 9)
    }

    @Test("a small disk keeps a twentieth of itself, and a large one 64 MiB")
    func low() {
        #expect(DiskSpace(free: 1 << 20, total: 24 << 20).isLow)
        #expect(!DiskSpace(free: 2 << 20, total: 24 << 20).isLow)
        #expect(DiskSpace(free: 63 << 20, total: 1 << 40).isLow)
        #expect(!DiskSpace(free: 64 << 20, total: 1 << 40).isLow)
        #expect(DiskSpace(free: 31 << 20, total: 1 << 40).isNearlyFull, "half of it is kept for sending what is queued")
        #expect(!DiskSpace(free: 32 << 20, total: 1 << 40).isNearlyFull)
    }
}
