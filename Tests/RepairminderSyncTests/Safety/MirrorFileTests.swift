import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

/// Another user may have prepared the mirror's directory.
@Suite struct MirrorFileTests {
    let folder: TemporaryFolder
    private var path: String { folder.path("tasks.json") }

    init() throws {
        folder = try TemporaryFolder()
        try #require(chmod(folder.path, 0o700) == 0)
    }

    private func write(_ text: String) throws { try MirrorFile(path: path).write { try $0(text) } }

    @Test("a link in place of the file, or of the one that is to replace it, is not followed")
    func links() throws {
        let target = try folder.write("precious", to: "target")
        for name in [path, "\(path).new"] {
            unlink(name)
            try #require(symlink(target, name) == 0)
            try write("records")
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "records")
        }
    }

    @Test("what cannot be removed is not written to")
    func taken() throws {
        try write("old")
        try FileManager.default.createDirectory(atPath: "\(path).new", withIntermediateDirectories: true)
        #expect(throws: MirrorError.self) { try write("new") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
    }

    @Test("a file that was already open for another is a new file afterwards, readable by its owner only")
    func hardLink() throws {
        let other = try folder.write("precious", to: "other")
        try #require(link(other, "\(path).new") == 0 && chmod(other, 0o666) == 0)
        try write("records")
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "precious")
        var status = stat()
        try #require(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("a pipe in place of a file is refused, and nothing waits for what it never brings", .timeLimit(.minutes(10)))
    func pipe() throws {
        try #require(mkfifo(folder.path("_mirror.json"), 0o600) == 0 && mkfifo(path, 0o600) == 0)
        let mirror = MirrorFolder(path: folder.path)
        let error = #expect(throws: MirrorError.self) { try mirror.origin() }
        #expect(error?.message.contains("it is not a file") == true)
        #expect(throws: MirrorError.self) { try mirror.records(of: "tasks") }
    }

    @Test("a directory that others may change is refused, with the command that repairs it", arguments: [0o720, 0o702])
    func openFolder(_ mode: mode_t) throws {
        try #require(chmod(folder.path, mode) == 0)
        let error = #expect(throws: MirrorError.self) { try MirrorFolder(path: folder.path).make() }
        #expect(error?.message.contains("stop the daemon, see that this is still no link, then run chmod go-w") == true)
        #expect(throws: MirrorError.self) { try MirrorFolder(path: folder.path).requireOwn() }
        try #require(chmod(folder.path, 0o755) == 0)
        #expect(throws: Never.self) { try MirrorFolder(path: folder.path).make() }
    }

    @Test("for a link, no command is proposed that would change what it leads to")
    func linkedFolder() throws {
        try #require(chmod(folder.path, 0o702) == 0)
        let link = folder.path + "-link"
        try #require(symlink(folder.path, link) == 0)
        defer { unlink(link) }
        let error = #expect(throws: MirrorError.self) { try MirrorFolder(path: link).requireOwn() }
        #expect(error?.message.contains("other users can change files in \(link); it is a link") == true)
        #expect(error?.message.contains("chmod") == false)
    }

    @Test("a directory in whose place every user could put another is refused")
    func openParent() throws {
        let path = folder.path + "/open/mirror"
        try MirrorFolder(path: path).make()
        try #require(chmod(folder.path + "/open", 0o777) == 0)
        let error = #expect(throws: MirrorError.self) { try MirrorFolder(path: path).requireOwn() }
        #expect(error?.message.contains("other users can put another directory in place of \(path)") == true)
        #expect(error?.message.contains("chmod") == false)
    }

    @Test("a directory of another user is refused", .enabled(if: getuid() == 0, "only root can act as two users"))
    func foreignFolder() throws {
        try #require(chown(folder.path, 54_321, 54_321) == 0)
        let error = #expect(throws: MirrorError.self) { try MirrorFolder(path: folder.path).make() }
        #expect(error?.message.contains("belongs to another user") == true)
    }

    @Test("a file of holes, larger than the memory, is refused instead of read")
    func holes() throws {
        try write("[]")
        // As much as an ext4 takes.
        try #require(truncate(path, 15 << 40) == 0)
        let error = #expect(throws: MirrorError.self) { _ = try MirrorFile(path: path).contents() }
        #expect(error?.message.contains("more than a fourth of this machine's memory") == true)
    }
}
