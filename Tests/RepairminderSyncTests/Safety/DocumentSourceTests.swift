import Foundation
import Glibc
import SchemaDraft
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("A description of an API that init reads from a file")
struct DocumentSourceTests {
    private let folder: TemporaryFolder

    private static let description = #"{"openapi": "3.0.0", "info": {"title": "Shop", "version": "1"}, "paths": {}}"#

    init() throws { folder = try TemporaryFolder() }

    private func title(_ path: String) async throws -> String { try await DocumentSource(text: path).document().title }

    @Test("it is read by its name, and by a link of one's own")
    func own() async throws {
        let file = try folder.write(Self.description, to: "api.json")
        try #require(symlink(file, folder.path("link")) == 0)
        for name in ["api.json", "link"] { #expect(try await title(folder.path(name)) == "Shop") }
    }

    @Test(
        "root reads none by a link, a pipe or a second name that another user has put on the way",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func foreign() async throws {
        let place = folder.path("place")
        let file = try folder.write(Self.description, to: "api.json")
        try #require(mkdir(place, 0o755) == 0 && mkfifo("\(place)/pipe", 0o600) == 0)
        try #require(symlink(file, "\(place)/link") == 0 && link(file, "\(place)/second") == 0)
        try Self.description.write(toFile: "\(place)/file", atomically: false, encoding: .utf8)
        for path in [place, "\(place)/link"] { try #require(lchown(path, 54_321, 54_321) == 0) }
        for name in ["pipe", "link", "second"] {
            await #expect(throws: CommandFailure.self, "\(name)") { try await title("\(place)/\(name)") }
        }
        #expect(try await title("\(place)/file") == "Shop")
    }

    @Test("a folder, and a name that leads nowhere, are refused")
    func missing() async throws {
        for path in [folder.path(""), folder.path("none")] {
            await #expect(throws: CommandFailure.self, "\(path)") { try await title(path) }
        }
    }
}
