import EntitySchema
import Foundation
import Glibc
import Testing

@testable import Upstream

@Suite("The upstream's token")
struct FileTokenTests {
    private func file(_ text: String, mode: Int) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("is read from a file that only its owner can read", arguments: [0o600, 0o400])
    func reads(_ mode: Int) throws {
        #expect(try FileToken(path: file("abc.def\n", mode: mode), for: .bearer).current() == "abc.def")
    }

    @Test("is rejected at once when a FIFO without a writer is in its place")
    func fifo() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "fifo-\(UUID().uuidString)").path
        defer { unlink(path) }
        try #require(mkfifo(path, 0o600) == 0)
        #expect {
            try PrivateFile(path: path).read()
        } throws: { ($0 as? TokenFileError)?.message.contains("is not a regular file") == true }
    }

    @Test("is rejected when others can read it, with what to do", arguments: [0o640, 0o604, 0o644])
    func othersCanRead(_ mode: Int) throws {
        let path = try file("abc", mode: mode)
        #expect {
            try FileToken(path: path, for: .bearer)
        } throws: { ($0 as? TokenFileError)?.message.contains("chmod 600") == true }
    }

    @Test("may be behind a link; then the message has no chmod, which would change what the link leads to")
    func link() throws {
        let path = try file("abc", mode: 0o600)
        let link = path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try FileToken(path: link, for: .bearer).current() == "abc")
        try #require(chmod(path, 0o644) == 0)
        #expect {
            try FileToken(path: link, for: .bearer)
        } throws: { error in
            let message = (error as? TokenFileError)?.message ?? ""
            return message.contains("can be read by others") && !message.contains("chmod")
        }
    }

    @Test(
        "may be root's file with an access list, as systemd passes it, but not another group's",
        arguments: [
            (owner: 0, group: 0, mode: 0o440, isOpen: false), (owner: 0, group: 0, mode: 0o444, isOpen: true),
            (owner: 0, group: 50, mode: 0o440, isOpen: true), (owner: 1000, group: 0, mode: 0o440, isOpen: true),
        ])
    func handedOver(_ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ isOpen: Bool) {
        var status = stat()
        status.st_uid = owner
        status.st_gid = group
        status.st_mode = mode
        #expect(PrivateFile.isOpenToOthers(status, for: 1000) == isOpen)
        #expect(PrivateFile.isOpenToOthers(status, for: 0), "systemd's exception does not apply to root")
    }

    @Test(
        "is rejected when the file is missing, empty or not a valid header value",
        arguments: ["", "\n", "a b", "a\u{7F}", "é"])
    func unusable(_ text: String) throws {
        let path = try file(text, mode: 0o600)
        #expect(throws: TokenFileError.self) { try FileToken(path: path, for: .bearer) }
        #expect(throws: TokenFileError.self) { try FileToken(path: path + "-missing", for: .bearer) }
    }

    @Test("is rejected when it is not UTF-8, as is a stored credential", arguments: [TokenPlace.bearer, .basic])
    func otherEncoding(_ place: TokenPlace) throws {
        let path = try file("", mode: 0o600)
        try Data([0x61, 0x3A, 0xE9]).write(to: URL(filePath: path))
        #expect {
            try FileToken(path: path, for: place)
        } throws: { ($0 as? TokenFileError)?.message.contains("is not UTF-8 text") == true }
        let problem = SecretFiles(paths: ["password": path]).problem(with: ["password"])
        #expect(problem?.contains("is not UTF-8 text") == true)
    }

    @Test("may be a user and a password with spaces where both are sent, but not without a colon")
    func basic() throws {
        let path = try file("shop@example.org:pass wörd\n", mode: 0o600)
        #expect(try FileToken(path: path, for: .basic).current() == "shop@example.org:pass wörd")
        let other = try file("abc", mode: 0o600)
        #expect {
            try FileToken(path: other, for: .basic)
        } throws: { ($0 as? TokenFileError)?.message.contains("user:password") == true }
    }

    @Test("is read again when it is refused, and reports whether it has changed")
    func reloads() throws {
        let path = try file("old", mode: 0o600)
        let token = try FileToken(path: path, for: .bearer)
        #expect(!token.renew(refused: "old"))
        try Data("new".utf8).write(to: URL(filePath: path))
        #expect(token.renew(refused: "old"))
        #expect(token.current() == "new")
        #expect(token.renew(refused: "old"), "refused before another request read the new token")
        #expect(!token.renew(refused: "new"))
    }
}
