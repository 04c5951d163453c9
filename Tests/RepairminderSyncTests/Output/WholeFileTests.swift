import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("A file that a command writes as a whole")
struct WholeFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("out")
    }

    private func kind() throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & S_IFMT
    }

    @Test("it is made, and replaced")
    func regular() throws {
        for text in ["one, which is longer", "two"] {
            try WholeFile.write(text, to: path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test("where a link leads is replaced, and the link stays")
    func link() throws {
        try folder.write("old", to: "target")
        try #require(symlink(folder.path("target"), path) == 0)
        try WholeFile.write("new", to: path)
        #expect(try kind() == S_IFLNK)
        #expect(try String(contentsOfFile: folder.path("target"), encoding: .utf8) == "new")
    }

    @Test(
        "a link of another user, as one in /tmp, is neither followed nor replaced",
        .enabled(if: getuid() == 0, "only root can act as two users"), arguments: [true, false])
    func foreignLink(isThere: Bool) throws {
        if isThere { try folder.write("old", to: "target") }
        try #require(symlink(folder.path("target"), path) == 0 && lchown(path, 54_321, 54_321) == 0)
        #expect(throws: (any Error).self) { try WholeFile.write("new", to: path) }
        #expect(try kind() == S_IFLNK)
        let found = try? String(contentsOfFile: folder.path("target"), encoding: .utf8)
        #expect(found == (isThere ? "old" : nil))
    }

    @Test("what is no regular file, as /dev/null, is written to and stays what it is")
    func pipe() throws {
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDWR | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        try WholeFile.write("text", to: path)
        #expect(try kind() == S_IFIFO)
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(read(reader, &bytes, bytes.count) == 4)
    }

    @Test("a path where nothing can be written fails")
    func missing() throws {
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: folder.path("none/out")) }
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: folder.path("")) }
    }
}
