package import EntitySchema
package import Foundation

/// Files of the source tree that tests read.
package enum ProjectFiles {
    /// The folder with `Package.swift`.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The text of the file at a path below the root.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The file of a schema in `config/schemas`.
    package static func schemaFile(_ name: String) -> URL { root.appending(path: "config/schemas/\(name).yaml") }

    /// A schema in `config/schemas`.
    package static func schema(_ name: String) throws -> EntitySchema {
        let file = schemaFile(name)
        return try EntitySchema(yaml: String(contentsOf: file, encoding: .utf8), file: file.path)
    }
}
