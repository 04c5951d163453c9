import ContentStore
import EntitySchema
import Foundation
import TestSupport
import Testing

struct ContentFolderTests {
    private let temporary: TemporaryFolder
    private var path: String { temporary.path("content") }

    init() throws { temporary = try TemporaryFolder() }

    @Test func `keeps content under its SHA-256`() async throws {
        let folder = try ContentFolder(path: path)
        let sha256 = try await install("abc", in: folder)
        #expect(sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(folder.path(of: sha256) == "\(path)/ba/\(sha256.dropFirst(2))")
        #expect(try folder.open(sha256)?.read(at: 1, count: 10) == Array("bc".utf8))
        #expect(try folder.all() == [sha256])
    }

    @Test func `shows nothing of a draft that was never installed`() async throws {
        let folder = try ContentFolder(path: path)
        var draft: ContentDraft? = try folder.draft(limit: 10)
        try draft?.write(Array("half".utf8))
        #expect(try folder.all().isEmpty)
        #expect(try files("drafts").count == 1)
        draft = nil
        #expect(try files("drafts").isEmpty)
    }

    @Test func `deletes drafts that a crash left behind at the next start`() throws {
        _ = try ContentFolder(path: path)
        try Data("half".utf8).write(to: URL(filePath: "\(path)/drafts/x"))
        _ = try ContentFolder(path: path)
        #expect(try files("drafts").isEmpty)
    }

    @Test func `accepts no byte beyond the limit`() throws {
        let draft = try ContentFolder(path: path).draft(limit: 4)
        try draft.write(Array("abcd".utf8))
        #expect(throws: ContentError.tooLarge(limit: 4)) { try draft.write([0x65]) }
        #expect(draft.size == 4)
    }

    @Test func `overwrites a retired file before deleting it`() async throws {
        let folder = try ContentFolder(path: path)
        let sha256 = try await install("secret", in: folder)
        let link = "\(path).link"
        // A second link to the file shows what happened to its bytes.
        try FileManager.default.linkItem(atPath: try #require(folder.path(of: sha256)), toPath: link)
        try folder.retire(sha256)
        #expect(try folder.open(sha256) == nil)
        try await folder.eraseRetired()
        #expect(try Data(contentsOf: URL(filePath: link)) == Data(count: 6))
        #expect(try files("gone").isEmpty)
    }

    @Test func `leaves a retired file to its readers`() async throws {
        let folder = try ContentFolder(path: path)
        let sha256 = try await install("picture", in: folder)
        var reader = try folder.open(sha256)
        try folder.retire(sha256)
        try await folder.eraseRetired()
        #expect(try reader?.read(at: 0, count: 7) == Array("picture".utf8))
        reader = nil
        try await folder.eraseRetired()
        #expect(try files("gone").isEmpty)
    }

    @Test func `retires thumbnails with their content`() async throws {
        let folder = try ContentFolder(path: path)
        let sha256 = try await install("picture", in: folder)
        let draft = try folder.draft(limit: 10)
        try draft.write(Array("small".utf8))
        _ = try await folder.finish(draft, type: "image/png")
        try folder.install(draft, asThumbnailOf: sha256, size: 64)
        #expect(try folder.thumbnail(of: sha256, size: 64)?.size == 5)
        try folder.retire(sha256)
        #expect(try folder.thumbnail(of: sha256, size: 64) == nil)
        #expect(try folder.all().isEmpty)
    }

    @Test(
        arguments: ["../api-token", "..api-token", "../../api-token", "", "ab", String(repeating: "A", count: 64)]
    )
    func `a text that is no SHA-256 names no file, and none is removed for it`(name: String) async throws {
        let folder = try ContentFolder(path: path)
        let file = temporary.path("api-token")
        try Data("token".utf8).write(to: URL(filePath: file))
        #expect(folder.path(of: name) == nil)
        #expect(try folder.open(name) == nil)
        #expect(try folder.thumbnail(of: name, size: 64) == nil)
        try folder.retire(name)
        try await folder.eraseRetired()
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("token".utf8))
        let draft = try folder.draft(limit: 10)
        #expect(throws: ContentError.self) { try folder.install(draft, as: name) }
    }

    @Test func `a link is no content, and the file behind it is neither read nor overwritten`() async throws {
        let folder = try ContentFolder(path: path)
        let file = temporary.path("secret.key")
        try Data("key".utf8).write(to: URL(filePath: file))
        let sha256 = try await install("abc", in: folder)
        let link = try #require(folder.path(of: sha256))
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(try folder.open(sha256) == nil)
        try folder.retire(sha256)
        try await folder.eraseRetired()
        #expect(try files("gone").isEmpty)
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("key".utf8))
    }

    private func install(_ text: String, in folder: ContentFolder) async throws -> String {
        let draft = try folder.draft(limit: 100)
        try draft.write(Array(text.utf8))
        let content = try await folder.finish(draft, type: "text/plain")
        try folder.install(draft, as: content.sha256)
        return content.sha256
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")
    }
}
