/// Drafts the entities of a document's collections.
struct EntityDrafter {
    let document: OpenAPIDocument
    let collections: [Collection]

    private let tokens: TokenNames
    /// The parameters whose next values the answers of their lists have.
    private let cursors: [String]

    init(document: OpenAPIDocument, collections: [Collection]) {
        self.document = document
        self.collections = collections
        tokens = TokenNames(document, collections)
        let paging = PagingGuess(shapes: document.shapes)
        cursors = Set(collections.compactMap(paging.cursor)).sorted()
    }

    private var shapes: ShapeReader { document.shapes }

    func entities() -> [DraftEntity] {
        let targets = ReferenceTargets(collections, shapes)
        let parents = Parents(collections)
        var drafted: [DraftEntity] = []
        // Parents first, so that what is below them knows their fields.
        for collection in collections.sorted(by: Self.isBefore) {
            let above = parents.parent(of: collection)
            let parent = above.flatMap { above in drafted.first { $0.name == above.name } }
            drafted.append(entity(collection, targets, below: parent, above))
        }
        Self.trust(&drafted)
        KeyBelow.leaveReferences(&drafted)
        let order = Dictionary(collections.enumerated().map { ($1.name, $0) }) { first, _ in first }
        return drafted.sorted { (order[$0.name] ?? 0) < (order[$1.name] ?? 0) }
    }

    private static func isBefore(_ one: Collection, _ other: Collection) -> Bool {
        (one.path.parameters.count, one.path.segments.count, one.path.text)
            < (other.path.parameters.count, other.path.segments.count, other.path.text)
    }

    private func entity(
        _ collection: Collection, _ targets: ReferenceTargets, below parent: DraftEntity?, _ above: Collection?
    ) -> DraftEntity {
        var collection = collection
        collection.answer.item = SaidInBodies(of: collection, shapes).record(collection.answer.item)
        var fields = FieldGuess(
            shapes: shapes, targets: targets, entity: collection.name, key: collection.key.value, tokens: tokens)
        fields.add(collection.answer.item)
        if let single = singleShape(collection) { fields.add(single) }
        let path = creationPath(&collection, fields.fields)
        addKeys(collection, to: &fields)
        addCreated(collection, to: &fields)
        var entity = DraftEntity(
            name: collection.name, origin: "GET \(collection.path.text)", isSeen: collection.list.seenRecords != nil,
            key: collection.key, fields: fields.fields)
        entity.keyLink = collection.keyLink
        collection = withoutUnclearCalls(collection, entity.fields)
        var filler = filler(collection, entity.fields)
        let (paging, todo) = PagingGuess(shapes: shapes, cursors: cursors).paging(of: collection)
        let link = parent.flatMap {
            ParentLink(parent: $0, above: above, collection: collection, shapes: shapes).link(&entity, &fields)
        }
        let query = ListQuery(of: collection, paging.value, document)
        if let parent, let link, let fixed = query.fixed {
            filler = self.filler(collection, entity.fields, above: link.above)
            entity.below = DraftEntity.Below(
                parent: parent.name, path: link.path + fixed, records: records(collection), paging: paging)
        } else {
            entity.pull = pull(collection, filler, records(collection), paging, query.sent, entity)
        }
        entity.title = Self.title(entity)
        let listPath = filler.path(collection.path, list: collection.path)
        WriteGuess(
            shapes: shapes, collection: collection, filler: filler,
            listPath: entity.below == nil ? listPath : listPath + (query.fixed ?? ""), creationPath: path
        ).complete(&entity)
        if let link, entity.below != nil { KeyBelow.join(&entity, above: link.reference, collection) }
        entity.todos += collection.todos + [todo].compactMap(\.self) + listTodos(entity, collection) + query.todos
        return entity
    }

    /// What the list leaves open, but for the parameters that choose some of its records.
    private func listTodos(_ entity: DraftEntity, _ collection: Collection) -> [String] {
        let hidden = HiddenRecords.todo(collection.list, since: entity.pull?.since?.value.parameter)
        let deleted = HiddenRecords.deletedTodo(collection.list, item: collection.answer.item)
        return [hidden, deleted, summaryTodo(entity, collection)].compactMap(\.self)
            + changeTodos(entity, collection.list)
    }

    /// Fewer fields than these are not worth a request for each record.
    private static let worthReading = 5

    /// What reads the records of a list that shows less than half of what each of them has.
    private func summaryTodo(_ entity: DraftEntity, _ collection: Collection) -> String? {
        guard entity.pull != nil, let single = singleShape(collection) else { return nil }
        let shown = Set(collection.answer.item.properties.map(\.name))
        let others = single.properties.map(\.name).filter { !shown.contains($0) }
        // Lists below the record are its details.
        guard others.count > shown.count, others.count >= Self.worthReading,
            !collections.contains(where: { $0.parentForm == collection.path.form })
        else { return nil }
        let listed = entity.fields.filter { shown.contains($0.wireName) }
        let changed = ChangeTimeGuess(list: collection.list, fields: listed).field?.name ?? "any"
        return "pull.detail: { read: single, when_changed: \(changed) }: the list shows \(shown.count) of "
            + "\(shown.count + others.count) fields, and the others come only when a record is read by itself"
    }

    /// What is missing to ask for changes.
    private func changeTodos(_ entity: DraftEntity, _ list: APIOperation) -> [String] {
        guard let pull = entity.pull else { return [] }
        let unclear = ChangeTimeGuess(list: list, fields: entity.fields).todo
        guard document.isObserved, pull.since == nil else { return [unclear].compactMap(\.self) }
        return [unclear].compactMap(\.self) + [
            "pull.since: a parameter for what changed since a time; without it each sync reads the whole list"
        ]
    }

    /// A number of a page that other lists have by their parameters is no mere guess.
    private static func trust(_ entities: inout [DraftEntity]) {
        let guessed = { (entity: DraftEntity) in entity.todos.contains { $0.hasPrefix(PagingGuess.unnamed) } }
        let parameter = { (entity: DraftEntity) in (entity.pull?.paging ?? entity.below?.paging)?.value.parameter }
        let known = entities.filter { !guessed($0) }.compactMap(parameter)
        for index in entities.indices where guessed(entities[index]) {
            guard let name = parameter(entities[index]), known.contains(name) else { continue }
            entities[index].todos.removeAll { $0.hasPrefix(PagingGuess.unnamed) }
            entities[index].pull?.paging.reason = "other lists have the parameter \(name)"
            entities[index].below?.paging.reason = "other lists have the parameter \(name)"
        }
    }

    // MARK: Parts

    /// Takes the creation below a record of another list, if there is just one whose path the fields of a record fill.
    private func creationPath(_ collection: inout Collection, _ fields: [DraftField]) -> CreationPath? {
        let found = collection.creationsBelow.compactMap { below -> (call: APIOperation, path: CreationPath)? in
            guard let parent = collections.first(where: { $0.path == below.parent }) else { return nil }
            let path = CreationPath(
                of: below.call, key: collection.key.value, fields: fields, parent: parent, shapes: shapes)
            return path.map { (below.call, $0) }
        }
        if found.count == 1, let only = found.first {
            collection.creation = only.call
            return only.path
        }
        collection.todos += collection.creationsBelow.prefix(3).map { below in
            "push.create: { call: \"\(below.call.method) \(below.call.path.text)\" }, with the field that "
                + "{\(below.call.path.parameters.first ?? "")} is"
        }
        return nil
    }

    private func records(_ collection: Collection) -> Guess<String> { Guess(collection.answer.place ?? "", nil) }

    private func filler(_ collection: Collection, _ fields: [DraftField], above: [String: String] = [:]) -> PathFiller {
        PathFiller(
            above: above, item: collection.answer.item, fields: fields, key: collection.key.value, shapes: shapes,
            parameters: collection.recordCalls.sorted { $0.key < $1.key }.flatMap(\.value.parameters)
                + collection.list.parameters)
    }

    /// Without the calls of one record when a name in their path became no field.
    private func withoutUnclearCalls(_ collection: Collection, _ fields: [DraftField]) -> Collection {
        guard let path = collection.recordPath, !filler(collection, fields).fills(path, list: collection.path) else {
            return collection
        }
        var collection = collection
        collection.recordPath = nil
        collection.hasUnclearRecord = true
        collection.recordCalls = [:]
        collection.todos.append("pull.record and push: { path: \"\(path.text)\" }, with the fields that its names are")
        return collection
    }

    private func singleShape(_ collection: Collection) -> DataShape? {
        guard let answer = collection.single?.answer else { return nil }
        let place = RecordPlace(of: collection, shapes).place(in: answer)
        guard let place else { return answer[collection.key.value] == nil ? nil : answer }
        guard !place.contains("\"") else { return nil }
        let names = place.split(separator: ".").map(String.init)
        return names.contains("0") ? nil : shapes.shape(at: names, in: answer)
    }

    /// What a creation needs, all of them or those of one form, and no record shows.
    private func addCreated(_ collection: Collection, to fields: inout FieldGuess) {
        guard let body = collection.creation?.bodies.first(where: \.isJSON)?.shape else { return }
        let known = Set(fields.fields.map { Words.folded($0.wireName) })
        guard let shape = created(body, known) else { return }
        let wanted = shape.required.union(shape.requiredOfSome)
        var needed = shape
        needed.properties = shape.properties.filter { property in
            wanted.contains(property.name) && !known.contains(Words.folded(property.name))
                && BodyGuess.constant(property.name, shapes.shape(of: property)) == nil
                && !hasRecords(property, collection, known) && !isShown(property, fields.fields)
        }
        fields.add(needed)
    }

    /// The body of a creation, or the member that has the record: `{"order": {…}}`. Nil if it has nothing of a record, or has it
    /// as JSON:API does.
    private func created(_ body: DataShape, _ known: Set<String>) -> DataShape? {
        func shared(_ shape: DataShape) -> Int { shape.properties.count { known.contains(Words.folded($0.name)) } }
        if shared(body) > 0 { return body }
        let members = body.properties.prefix(10).map(shapes.shape)
        let inner = members.filter { $0.kind == .object && $0["attributes"] == nil }
        return inner.max { shared($0) < shared($1) }.flatMap { shared($0) > 0 ? $0 : nil }
    }

    /// Whether a member of a body names by its key what a record shows whole, so that a field sends it already.
    private func isShown(_ member: DataShape.Property, _ fields: [DraftField]) -> Bool {
        ShownKey(shapes: shapes).field(member.name, shapes.shape(of: member), among: fields) != nil
    }

    /// Whether a member of a body is called like the list and has its records: the creation makes several.
    private func hasRecords(_ member: DataShape.Property, _ collection: Collection, _ known: Set<String>) -> Bool {
        let shape = shapes.shape(of: member)
        guard shape.isList, let name = collection.base.last,
            Words.folded(Words.singular(member.name)) == Words.folded(Words.singular(name))
        else { return false }
        let names = shapes.elements(of: shape).properties.map { Words.folded($0.name) }
        return names.count > 1 && names.count(where: known.contains) * 10 >= 6 * names.count
    }

    /// What a change names by its key: `tagIds`, where a record has `tags`.
    private func addKeys(_ collection: Collection, to fields: inout FieldGuess) {
        let records = [collection.answer.item, singleShape(collection)].compactMap(\.self)
        for body in collection.writes.compactMap({ $0.bodies.first(where: \.isJSON)?.shape }) {
            // The record may be inside a member.
            let inner = body.properties.prefix(10).filter { property in
                !records.contains { $0[property.name] != nil }
            }
            for shape in [body] + inner.map(shapes.shape) where shape.kind == .object {
                fields.addKeys(sentIn: shape, records: records)
            }
        }
    }

    private func pull(
        _ collection: Collection, _ filler: PathFiller, _ records: Guess<String>, _ paging: Guess<DraftPaging>,
        _ query: [DraftEntity.Query], _ entity: DraftEntity
    ) -> DraftEntity.Pull {
        let changes = ChangeTimeGuess(list: collection.list, fields: entity.fields)
        let since = changes.since()
        let deleted = deleted(entity, collection)
        var query = query
        // A pull of everything misses what was deleted; one of changes has to be told.
        if since != nil, deleted != nil, let name = FixedParameter.forDeleted(of: collection.list) {
            query.removeAll { $0.name == name }
            query.append(
                DraftEntity.Query(
                    name: name, values: ["true"], reason: "by its name: changes then show deleted records too"))
        }
        let settings =
            collection.path.parameters.isEmpty ? nil : "one list for each: set upstream.settings in the configuration"
        return DraftEntity.Pull(
            path: Guess(filler.path(collection.path, list: collection.path), settings), query: query, records: records,
            paging: paging, since: since, deleted: deleted, single: single(collection, filler))
    }

    private func single(_ collection: Collection, _ filler: PathFiller) -> DraftEntity.Single {
        let isKeyed = collection.recordCalls["GET"] == nil
        guard let single = collection.single, let query = FixedParameter.query(of: single),
            let path = isKeyed ? single.path : collection.recordPath
        else { return collection.hasUnclearRecord ? .unclear : .none }
        let place = RecordPlace(of: collection, shapes).place(in: single.answer)
        let whole = filler.path(path, list: collection.path) + query
        let key = isKeyed ? collection.keyed.read?.parameter : nil
        return .path(whole + KeyedCalls.query(key, of: collection.key.value, after: whole), at: place)
    }

    private func deleted(_ entity: DraftEntity, _ collection: Collection) -> Guess<DraftEntity.Mark>? {
        let deletion = collection.recordCalls["DELETE"]
        if let said = deletion.flatMap(HiddenRecords.mark),
            let field = entity.fields.first(where: { $0.from == nil && Words.folded($0.wireName) == said.name }),
            let value = field.kind.value(said.value)
        {
            return Guess(DraftEntity.Mark(field: field.name, value: value), "a deletion only sets it")
        }
        let isArchived = deletion?.verb(among: ["archive"]) != nil
        let marks = [HiddenRecords.deletionMarks] + (isArchived ? [HiddenRecords.archiveMarks] : [])
        let found = marks.lazy.compactMap { names in
            entity.fields.first { field in
                field.from == nil && names.contains(Words.folded(field.wireName)) && !field.isSecret
                    && (field.isTime || [.simple("boolean"), .simple("date")].contains(field.kind))
            }
        }.first
        return found.map {
            Guess(DraftEntity.Mark(field: $0.name), "by its name: a record with it counts as deleted")
        }
    }

    /// A record's name for people.
    private static func title(_ entity: DraftEntity) -> String? {
        let names = [
            "name", "title", "displayname", "fullname", "label", "subject", "summary", "shortdescription", "number",
            "reference", "username", "email", "code", "slug", "filename", "description",
        ]
        for name in names {
            let found = entity.fields.first { field in
                Words.folded(field.wireName) == name && ![entity.key.value, entity.keyLink].contains(field.name)
                    && !field.isSecret
                    && [.simple("string"), .simple("integer")].contains(field.kind)
            }
            if let found { return found.name }
        }
        return nil
    }
}
