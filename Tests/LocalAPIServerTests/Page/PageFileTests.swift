import Foundation
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("The files of the page")
struct PageFileTests {
    private static let folder = ProjectFiles.root.appending(path: "Sources/LocalAPIServer/Page/Files")

    private static let types = ["js": "text/javascript;", "css": "text/css;", "svg": "image/svg+xml"]

    /// The places of all files in the source tree.
    private static func names() throws -> Set<String> {
        let folders = try #require(FileManager.default.subpaths(atPath: folder.path))
        return Set(folders.filter { !folder.appending(path: $0).hasDirectoryPath && $0.contains(".") })
    }

    @Test("every file of the source tree is served as it is, under its name and with its type")
    func served() async throws {
        let api = try await TestAPI.filled()
        #expect(try Set(PageFile.all.map(\.name)) == Self.names())
        for name in try Self.names() {
            let answer = await api.call("GET", "/page/\(name)")
            #expect(answer.status == 200, "\(name)")
            #expect(try answer.text == ProjectFiles.text("Sources/LocalAPIServer/Page/Files/\(name)"), "\(name)")
            #expect(
                answer.header("Content-Type")?.hasPrefix(Self.types[URL(filePath: name).pathExtension] ?? "?") == true)
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
        }
        #expect(await api.call("GET", "/page/none.js").status == 404)
        // They have nothing of the records, and a reader who is not signed in needs them.
        #expect(await api.call("GET", "/page/main.js", headers: ["Authorization": nil]).status == 200)
    }

    @Test("a browser that has a file is not sent it again")
    func known() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/page/main.js").header("ETag"))
        let again = await api.call("GET", "/page/main.js", headers: ["If-None-Match": tag])
        #expect(again.status == 304 && again.text.isEmpty)
    }

    @Test("together they stay below 155 kB, load nothing from elsewhere, and make no markup from text")
    func content() throws {
        let texts = try Self.names().sorted().map { name in
            (name: name, text: try ProjectFiles.text("Sources/LocalAPIServer/Page/Files/\(name)"))
        }
        #expect(texts.map(\.text.utf8.count).reduce(0, +) < 155_000)
        for (name, text) in texts {
            let own = text.replacing("http://www.w3.org/2000/svg", with: "")
            #expect(!own.contains("http://") && !own.contains("https://"), "\(name)")
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "@import"] {
                #expect(!own.contains(word), "\(name) has \(word)")
            }
        }
    }
}
