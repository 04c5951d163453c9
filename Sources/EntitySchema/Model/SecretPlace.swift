package import JSONText

/// Where an entity's records have a secret or sealed value, and the field it belongs to.
package struct SecretPlace: Sendable, Hashable {
    package var path: [JSONPlaces.Step]
    /// The field that the value belongs to: this entity's, or that of children embedded in its records.
    package var entity: String
    package var field: String

    package init(path: [JSONPlaces.Step], entity: String, field: String) {
        self.path = path
        self.entity = entity
        self.field = field
    }
}

extension Entity {
    /// All places in a record of this entity, or in a part of one, that may have a secret value.
    package var secretPlaces: [SecretPlace] { ownSecretPlaces + embeddedSecretPlaces }

    /// The names of the members that hold secret values, in a record or a part of one.
    package var secretMembers: Set<String> {
        Set(
            secretPlaces.compactMap { place in
                guard case .member(let name) = place.path.last else { return nil }
                return name
            })
    }

    /// Those of them that readers do not see.
    package var hiddenPlaces: [SecretPlace] {
        ownSecretPlaces.filter { self[field: $0.field]?.secret ?? true }
            + embeddedSecretPlaces.filter { !shownEmbeddedPlaces.contains($0) }
    }

    /// Each secret or sealed field under its own name and, if the upstream has it elsewhere, there too.
    var ownSecretPlaces: [SecretPlace] {
        fields.filter(\.isStoredSealed).flatMap { field in
            [field.name, field.source].compactMap { $0 }.map { path in
                SecretPlace(path: Self.steps(path), entity: name, field: field.name)
            }
        }
    }

    /// The members of a path (`from`).
    package static func steps(_ path: String) -> [JSONPlaces.Step] {
        JSONPath.steps(path).map { .member(String($0)) }
    }
}

extension EntitySchema {
    /// The schema with `embeddedSecretPlaces` set for entities whose records contain children.
    var withEmbeddedSecrets: EntitySchema {
        var schema = self
        for (index, parent) in entities.enumerated() {
            for detail in parent.pull?.details ?? [] where detail.path == nil {
                guard let child = self[detail.entity] else { continue }
                let places = detail.list.records.paths.flatMap { list in
                    child.ownSecretPlaces.map { place in
                        SecretPlace(
                            path: Entity.steps(list) + [.elements] + place.path, entity: child.name, field: place.field)
                    }
                }
                schema.entities[index].embeddedSecretPlaces += places
                schema.entities[index].shownEmbeddedPlaces.formUnion(
                    places.filter { child[field: $0.field]?.sealed ?? false })
            }
        }
        return schema
    }
}
