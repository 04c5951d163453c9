import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import Upstream

@Suite("The stored sign-in")
struct TokenStoreTests {
    private let folder: TemporaryFolder
    private let store: TokenStore
    private let tokens = Tokens(access: "a.b", refresh: "r\"1", expiresAt: Timestamp(milliseconds: 1_795_257_720_123))

    init() throws {
        folder = try TemporaryFolder()
        store = TokenStore(path: folder.path("tokens.json"))
    }

    @Test("is read back as it was saved")
    func roundTrip() throws {
        try store.save(tokens)
        #expect(try store.load() == tokens)
        try store.save(Tokens(access: "only"))
        #expect(try store.load() == Tokens(access: "only"))
    }

    @Test("is nil before the first sign-in")
    func missing() throws {
        #expect(try store.load() == nil)
    }

    @Test("is a file of mode 0600 with three members, and leaves nothing else in its folder")
    func file() throws {
        try store.save(tokens)
        let attributes = try FileManager.default.attributesOfItem(atPath: store.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let text = try String(contentsOfFile: store.path, encoding: .utf8)
        #expect(text == #"{"token":"a.b","refresh_token":"r\"1","expires_at":"2026-11-21T10:42:00.123Z"}"# + "\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tokens.json"])
    }

    @Test("is removed with what an interrupted save left, and removing it again does nothing")
    func removal() throws {
        try store.save(tokens)
        try PrivateFile(path: store.path + ".new").write([1])
        #expect(try store.remove())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(try !store.remove())
    }

    @Test("is whole while two programs save at once, and neither fails")
    func atOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for letter in ["a", "b"] {
                group.addTask { [store] in
                    for _ in 0..<100 {
                        try store.save(Tokens(access: String(repeating: letter, count: 10_000)))
                        #expect(try store.load()?.access.count == 10_000)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("is another file after each save")
    func identity() throws {
        #expect(store.identity == nil)
        try store.save(tokens)
        let first = store.identity
        #expect(first != nil && store.identity == first)
        try store.save(tokens)
        #expect(store.identity != first)
    }

    @Test("is rejected when others can read it, with what to do", arguments: [0o640, 0o604, 0o620])
    func othersCanRead(_ mode: Int) throws {
        try store.save(tokens)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store.path)
        #expect {
            try store.load()
        } throws: { ($0 as? TokenFileError)?.message.hasSuffix("run chmod -R go= \(folder.path)/") == true }
    }

    @Test("is rejected when a link is in its place, and the next sign-in replaces the link alone")
    func link() throws {
        try store.save(tokens)
        let other = folder.path("other.json")
        try FileManager.default.moveItem(atPath: store.path, toPath: other)
        try FileManager.default.createSymbolicLink(atPath: store.path, withDestinationPath: other)
        let before = try Data(contentsOf: URL(filePath: other))
        #expect {
            try store.load()
        } throws: { ($0 as? TokenFileError)?.message == "\(store.path) is a link; delete it, and sign in again" }
        try store.save(Tokens(access: "new"))
        #expect(try store.load()?.access == "new")
        #expect(try Data(contentsOf: URL(filePath: other)) == before)
    }

    @Test(
        "is rejected when it is not a saved sign-in",
        arguments: ["", "{", "[]", "{}", #"{"token":""}"#, #"{"token":1}"#, #"{"token":"a\r\nb"}"#])
    func unusable(_ text: String) throws {
        try PrivateFile(path: store.path).write(Array(text.utf8))
        #expect {
            try store.load()
        } throws: { ($0 as? TokenFileError)?.message.contains("login") == true }
    }

    @Test("survives a failed save")
    func failedSave() throws {
        try store.save(tokens)
        try folder.block("tokens.json.new")
        #expect(throws: TokenFileError.self) { try store.save(Tokens(access: "other")) }
        #expect(try store.load() == tokens)
    }

    @Test("replaces an interrupted save")
    func leftover() throws {
        try PrivateFile(path: store.path + ".new").write(Array("half".utf8))
        try store.save(tokens)
        #expect(try store.load() == tokens)
    }

    @Test("is rejected when it is a folder or larger than any token")
    func odd() throws {
        #expect(throws: TokenFileError.self) { try TokenStore(path: folder.path).load() }
        try PrivateFile(path: store.path).replace(with: [UInt8](repeating: 0x20, count: 100_000))
        #expect(throws: TokenFileError.self) { try store.load() }
    }

    @Test("is not replaced by one that could not be read", arguments: [65_400, 65_600, 100_000])
    func unreadable(_ length: Int) throws {
        try store.save(tokens)
        let long = Tokens(access: String(repeating: "a", count: length))
        do { try store.save(long) } catch { #expect(try store.load() == tokens) }
        #expect(try store.load() != nil)
    }
}
