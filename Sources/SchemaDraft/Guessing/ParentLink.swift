internal import EntitySchema

/// Connects the records of a list below a record to that record: by a field, and in the paths.
struct ParentLink {
    let parent: DraftEntity
    let above: Collection?
    let collection: Collection
    let shapes: ShapeReader

    struct Link {
        /// The path of the list, with fields of the parent.
        var path: String
        /// What stands for the parameters in the child's own paths.
        var above: [String: String]
        /// The field that names the parent.
        var reference: String
    }

    /// Adds the field that refers to the parent, unless there is one. Nil if the parent is pulled in another way, or no
    /// field can name it.
    func link(_ entity: inout DraftEntity, _ fields: inout FieldGuess) -> Link? {
        guard let pull = parent.pull, let above, let parameter = collection.path.parameters.last else { return nil }
        let filler = PathFiller(
            item: above.answer.item, fields: parent.fields, key: parent.key.value, shapes: shapes,
            parameters: collection.list.parameters)
        guard let field = filler.field(for: parameter, list: above.path) else { return nil }
        guard let reference = reference(&entity, &fields, parameter) else { return nil }
        let leading = collection.path.parameters.dropLast()
        // The paths of both may have other names for what is above them.
        let outer = above.path.parameters.count == leading.count ? above.path : collection.path
        let settings = leading.indices.map { PathFiller.setting($0, of: outer) }
        var texts = Dictionary(zip(leading, settings.map(DraftSetting.text))) { first, _ in first }
        // The parent's own list must be read with the same settings.
        guard Set(DraftSetting.names(in: pull.path.value)) == Set(settings) else { return nil }
        let relation = entity[reference].flatMap(Self.relation) ?? reference
        texts[parameter] = field == parent.key.value ? "{\(reference)}" : "{\(relation).\(field)}"
        var position = 0
        let path = collection.path.filled { _ in
            defer { position += 1 }
            return position < leading.count ? DraftSetting.text(settings[position]) : "{\(field)}"
        }
        return Link(path: path, above: texts, reference: reference)
    }

    private func reference(_ entity: inout DraftEntity, _ fields: inout FieldGuess, _ parameter: String) -> String? {
        let key = entity.key.value
        let isParent = { (field: DraftField) -> Bool in
            if case .reference(to: parent.name, _) = field.kind { field.name != key } else { false }
        }
        // Of several, the one with the path's name has the value that the path takes.
        let named = entity.fields.firstIndex { isParent($0) && Words.folded($0.wireName) == Words.folded(parameter) }
        let own = entity.fields.firstIndex { isParent($0) && isCalledLikeParent($0.name) }
        if let index = named ?? own {
            entity.fields[index].isIndexed = true
            entity.fields[index].isRequired = true
            return entity.fields[index].name
        }
        // A member of the same name as the parent's key, or as the parameter.
        let names = [parent.key.value, parameter].map(Words.folded).filter {
            !["id", "name", "key", "uuid"].contains($0)
        }
        let stem = Words.singular(parent.name)
        if let index = entity.fields.firstIndex(where: { field in
            names.contains(Words.folded(field.wireName)) && field.name != entity.key.value && field.from == nil
                && field.kind == parent[parent.key.value]?.kind && !field.isSecret
        }) {
            let name = entity.fields[index].name
            entity.fields[index].kind = .reference(to: parent.name, as: fields.relation(stem, of: name))
            entity.fields[index].isIndexed = true
            entity.fields[index].isRequired = true
            entity.fields[index].reason = "the list is below \(parent.name)"
            return name
        }
        let taken = Set(entity.fields.map { $0.name.lowercased() })
        guard let name = FieldNames.field(for: "\(stem)_id", taken: taken) else { return nil }
        var field = DraftField(
            name, .reference(to: parent.name, as: fields.relation(stem, of: name)), wireName: "",
            reason: "the daemon fills it in: the list is below \(parent.name)")
        field.isIndexed = true
        field.isRequired = true
        entity.fields.append(field)
        return name
    }

    /// Whether a field is called like the record above: `project_id`. A `cloud_project_id` may name another project.
    private func isCalledLikeParent(_ field: String) -> Bool {
        let (name, key) = (Words.folded(field), Words.folded(parent.key.value))
        let stems = above.map { PathParameter.stems(of: $0.path, last: 1).map(Words.folded) } ?? []
        let ends = ["", "id", "uuid", "guid", "sid", "gid", "key", key]
        return name == key || stems.contains { stem in ends.contains { name == stem + $0 } }
    }

    /// The name of the relation that a reference makes.
    private static func relation(_ field: DraftField) -> String? {
        guard case .reference(_, let name) = field.kind else { return nil }
        return name ?? Relation.name(ofReference: field.name)
    }
}
