import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

/// What a restart knows of the requests before it.
@Suite("The journal of requests")
struct RequestJournalFileTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("request-times") }

    private func journal() throws -> RequestJournalFile {
        let clock = clock
        let journal = RequestJournalFile(path: path, limit: 3) { clock.timestamp }
        return try #require(journal)
    }

    @Test("a new file knows nothing, and only its owner may read it")
    func empty() throws {
        #expect(try journal().ages.isEmpty)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("answered requests are as old as their answers; one under way may just have arrived")
    func restart() throws {
        let first = try journal()
        let one = first.sent()
        _ = first.sent()
        clock.advance(by: .seconds(5))
        first.answered(one)
        clock.advance(by: .seconds(10))
        #expect(try journal().ages.sorted() == [.zero, .seconds(10)])
        clock.advance(by: .seconds(1))
        #expect(try journal().ages.sorted() == [.seconds(1), .seconds(11)])
    }

    @Test("the oldest are replaced, also after a restart")
    func ring() throws {
        for round in 0..<3 {
            let journal = try journal()
            for _ in 0..<60 {
                clock.advance(by: .seconds(1))
                journal.answered(journal.sent())
            }
            let ages = try self.journal().ages
            #expect(ages.count == (round == 0 ? 60 : 67))
            #expect(ages.sorted() == (0..<ages.count).map { .seconds($0) })
        }
    }

    @Test("a clock that was set back makes no request older")
    func setBack() throws {
        let journal = try journal()
        journal.answered(journal.sent())
        clock.set(by: .seconds(-3600))
        #expect(try self.journal().ages == [.zero])
    }

    @Test("a link in its place is not followed")
    func link() throws {
        let target = try folder.write("secret", to: "target")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(RequestJournalFile(path: path, limit: 3, now: { Timestamp.sample }) == nil)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "secret")
    }
}
