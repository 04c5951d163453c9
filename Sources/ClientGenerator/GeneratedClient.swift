package import EntitySchema

/// Code for programs that use the local API with the types of one schema.
///
/// The same schema always gives the same text.
package struct GeneratedClient {
    /// A language that code is written in.
    package enum Language: String, Sendable, CaseIterable {
        case swift, python
    }

    private let schema: EntitySchema
    private let hash: String

    /// `hash` identifies the text of the schema.
    package init(_ schema: EntitySchema, hash: String) {
        self.schema = schema
        self.hash = hash
    }

    /// A source file of the language.
    package func text(in language: Language) -> String {
        let header = [
            "Written by `repairminder-sync generate \(language.rawValue)`: do not edit, but generate it again when the schema changes.",
            "API v1, schema \(SafeText.comment(schema.name)), SHA-256 \(SafeText.comment(hash)).",
        ]
        return switch language {
        case .swift: SwiftClient(schema, header: header).text
        case .python: PythonClient(schema, header: header).text
        }
    }
}
