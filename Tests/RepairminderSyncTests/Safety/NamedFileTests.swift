import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

/// Root copies a file of the state directory to a place of its own, and the directory's owner may have put another there.
@Suite("A file that is named on the command line")
struct NamedFileTests {
    private let folder: TemporaryFolder
    private let source: String
    private let target: String

    init() throws {
        folder = try TemporaryFolder()
        source = folder.path("source")
        target = folder.path("target")
    }

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test("it gets all that the other file has")
    func fill() throws {
        let text = String(repeating: "record", count: 500_000)
        try folder.write(text, to: "source")
        try NamedFile(creating: target).fill(from: source)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == text)
    }

    @Test("a pipe in the other's place is refused, not waited for")
    func pipe() throws {
        try #require(mkfifo(source, 0o600) == 0)
        let file = try NamedFile(creating: target)
        let error = #expect(throws: StateError.self) { try file.fill(from: source) }
        #expect(error?.message.contains("is not a file") == true)
    }

    @Test("a file of holes, larger than the disk, does not fill it")
    func holes() throws {
        try folder.write("", to: "source")
        // As much as an ext4 takes.
        try #require(truncate(source, 15 << 40) == 0)
        let file = try NamedFile(creating: target)
        let error = #expect(throws: StateError.self) { try file.fill(from: source) }
        #expect(error?.message.contains("free some space") == true)
        #expect(try size(target) == 0)
    }

    @Test("a backup of holes, larger than the disk, does not fill it when it is restored")
    func holesToRestore() throws {
        try folder.write("", to: "source")
        try #require(truncate(source, 15 << 40) == 0)
        let file = try #require(NamedFile(reading: source))
        let error = #expect(throws: StateError.self) { try file.copy(to: target) }
        #expect(error?.message.contains("free some space") == true)
        #expect(try size(target) == 0)
    }

    @Test("a file with next to nothing in its length is not copied, although the disk has room for all of it")
    func roomForHoles() throws {
        try folder.write("SQLite format 3", to: "source")
        try #require(truncate(source, (1 << 30) + 4096) == 0)
        let restored = try #require(NamedFile(reading: source))
        let refusals = [
            #expect(throws: StateError.self) { try restored.copy(to: target + ".restored") },
            #expect(throws: StateError.self) { try NamedFile(creating: target).fill(from: source) },
        ]
        for refusal in refusals { #expect(refusal?.message.contains("next to nothing in it") == true) }
        #expect(try size(target) == 0)
        #expect(try size(target + ".restored") == 0)
    }

    @Test("a text of more bytes than are allowed is refused, before the memory has them")
    func longText() throws {
        try folder.write("change", to: "source")
        #expect(try NamedFile(reading: source)?.text(atMost: 6) == "change")
        #expect(try NamedFile(following: source)?.text(atMost: 6) == "change")
        try #require(truncate(source, 15 << 40) == 0)
        let file = try #require(NamedFile(following: source))
        let error = #expect(throws: StateError.self) { try file.text(atMost: 1 << 20) }
        #expect(error?.message == "\(source) has more than 1 MiB; name another file")
    }
}
