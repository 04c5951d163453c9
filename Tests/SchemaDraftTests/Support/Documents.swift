import Foundation
import TestSupport

@testable import SchemaDraft

/// The real documents in `Documents`, by name.
enum Documents {
    static let folder = ProjectFiles.root.appending(path: "Tests/SchemaDraftTests/Documents")

    /// Without endings, in order.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") || $0.hasSuffix(".yaml") }.sorted()
    }()

    static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }

    static func draft(_ name: String, only: [String] = []) throws -> SchemaDraft {
        let document = try OpenAPIDocument(DocumentParser.value(of: bytes(name)))
        return try SchemaDrafter(document, source: name).draft(only: only)
    }
}

extension SchemaDraft {
    /// The draft of a document in the test itself.
    static func of(_ text: String, only: [String] = []) throws -> SchemaDraft {
        let document = try OpenAPIDocument(DocumentParser.value(of: Array(text.utf8)))
        return try SchemaDrafter(document, source: "test.yaml").draft(only: only)
    }
}
