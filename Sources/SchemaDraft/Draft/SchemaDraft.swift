package import EntitySchema

/// A drafted schema that the daemon accepts.
package struct SchemaDraft: Sendable {
    let model: DraftModel
    /// The file, with comments.
    package let yaml: String
    /// What the daemon makes of it; settings have the value 1.
    package let schema: EntitySchema

    package var leftOut: [LeftOut] { model.leftOut }
    /// The settings that an installation must give.
    package var settings: [String] { model.settings }
    /// The path of each entity's list, by its name.
    package var paths: [(entity: String, path: String)] {
        model.entities.map { ($0.name, $0.path) }
    }

    /// What was not found, in the order of the file: each once, after the names of the entities that lack it.
    package var todos: [String] {
        var order: [String] = []
        var lacking: [String: [String]] = [:]
        for entity in model.entities {
            for todo in entity.todos {
                if lacking[todo] == nil { order.append(todo) }
                lacking[todo, default: []].append(entity.name)
            }
        }
        return model.upstream.todos + order.map { "\(Self.listed(lacking[$0] ?? [])): \($0)" }
    }

    private static func listed(_ names: [String]) -> String {
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
