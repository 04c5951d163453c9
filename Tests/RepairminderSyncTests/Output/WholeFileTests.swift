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

    @Test("a device that takes no more, and a folder that does not exist, are reported as such")
    func noRoom() {
        let full = #expect(throws: CocoaError.self) { try WholeFile.write("text", to: "/dev/full") }
        #expect(full?.code == .fileWriteOutOfSpace)
        let lost = #expect(throws: CocoaError.self) { try WholeFile.write("text", to: folder.path("no/out")) }
        #expect(lost?.code == .fileNoSuchFile)
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

    @Test(
        "a link of another user in the middle of the path is not followed either",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func foreignLinkOnTheWay() throws {
        try #require(mkdir(folder.path("root"), 0o700) == 0 && symlink(folder.path("root"), path) == 0)
        try WholeFile.write("text", to: "\(path)/own")
        try #require(lchown(path, 54_321, 54_321) == 0)
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: "\(path)/foreign") }
        #expect(throws: (any Error).self) { try WholeFile.create("text", at: "\(path)/foreign") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("root")) == ["own"])
    }

    @Test(
        "a pipe is not written to where another user could put a link in its place",
        .enabled(if: getuid() == 0, "only root can act as two users"), arguments: [mode_t(0o777), 0o755])
    func exchangeable(mode: mode_t) throws {
        let place = folder.path("place")
        try #require(mkdir(place, 0o700) == 0 && mkfifo("\(place)/pipe", 0o600) == 0 && chmod(place, mode) == 0)
        if mode & S_IWOTH == 0 { try #require(chown(place, 54_321, 54_321) == 0) }
        let reader = open("\(place)/pipe", O_RDWR | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: "\(place)/pipe") }
        // What is replaced by its name can be anywhere.
        try WholeFile.write("text", to: "\(place)/file")
    }

    @Test("a new file is made once, and nothing that has its name is touched")
    func new() throws {
        try WholeFile.create("text", at: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
        #expect(throws: CocoaError.self) { try WholeFile.create("other", at: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
        try #require(symlink(folder.path("target"), folder.path("link")) == 0)
        #expect(throws: CocoaError.self) { try WholeFile.create("other", at: folder.path("link")) }
        #expect(access(folder.path("target"), F_OK) != 0)
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

    @Test(
        "root reads no link, pipe or second name that another user has put on the way, but each regular file",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func foreignInput() throws {
        let place = folder.path("place")
        try folder.write("secret", to: "secret")
        try #require(mkdir(place, 0o755) == 0 && mkfifo("\(place)/pipe", 0o600) == 0)
        try #require(
            symlink(folder.path("secret"), "\(place)/link") == 0 && symlink(folder.path(""), "\(place)/way") == 0)
        try #require(Glibc.link(folder.path("secret"), "\(place)/second") == 0)
        try "text".write(toFile: "\(place)/file", atomically: false, encoding: .utf8)
        for path in [place, "\(place)/link", "\(place)/way"] { try #require(lchown(path, 54_321, 54_321) == 0) }
        for name in ["pipe", "link", "way/secret", "second"] {
            #expect(throws: (any Error).self, "\(name)") { try StandardInput.bytes(of: "\(place)/\(name)") }
        }
        #expect(try StandardInput.bytes(of: "\(place)/file") == Array("text".utf8))
        #expect(try StandardInput.bytes(of: "/dev/null").isEmpty)
    }

    @Test("a file is read up to a size, by a link of one's own too")
    func input() throws {
        try folder.write("text", to: "target")
        try #require(symlink(folder.path("target"), path) == 0)
        #expect(try StandardInput.bytes(of: path, atMost: 4) == Array("text".utf8))
        #expect(throws: CommandFailure.self) { try StandardInput.bytes(of: path, atMost: 3) }
        #expect(throws: CommandFailure.self) { try StandardInput.bytes(of: folder.path("none")) }
    }

    @Test("a path where nothing can be written fails")
    func missing() throws {
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: folder.path("none/out")) }
        #expect(throws: (any Error).self) { try WholeFile.write("text", to: folder.path("")) }
    }
}
