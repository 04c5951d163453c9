package import EntitySchema

/// A drafted schema that the daemon accepts.
package struct SchemaDraft: Sendable {
    let model: DraftModel
    /// The file, with comments.
    package let yaml: String
    /// What the daemon makes of it; settings have the value 1.
    package let schema: EntitySchema

    /// The schema's name.
    package var name: String { model.name }
    package var leftOut: [LeftOut] { model.leftOut }
    /// The settings that an installation must give.
    package var settings: [String] { model.settings }
    /// The path of each entity's list, by its name.
    package var paths: [(entity: String, path: String)] {
        model.entities.map { ($0.name, $0.path) }
    }
}
