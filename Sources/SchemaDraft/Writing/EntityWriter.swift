/// Writes one entity of a draft.
struct EntityWriter {
    let entity: DraftEntity
    /// The entities whose records are listed below each of this one.
    let children: [DraftEntity]
    /// The paging that the upstream has for all.
    let usual: DraftPaging

    var member: YAMLNode.Member {
        var members: [YAMLNode.Member] = [key]
        members.add("title", entity.title.map { "{\($0)}" }, "by its name")
        members.append(YAMLNode.Member("fields", .block(entity.fields.map { FieldWriter(field: $0).member })))
        if let pull { members.append(YAMLNode.Member("pull", .block(pull))) }
        let routes = push
        if !routes.isEmpty { members.append(YAMLNode.Member("push", .block(routes))) }
        if !entity.todos.isEmpty { members.append(.comment(entity.todos.map { "TODO \($0)" })) }
        let seen = entity.isSeen ? ["The document does not say what it answers: an answer showed the records."] : []
        return YAMLNode.Member(entity.name, .block(members), above: [entity.origin] + seen)
    }

    private var key: YAMLNode.Member {
        guard entity.keyMade != nil || entity.keyLink != nil || !entity.keyParts.isEmpty else {
            return YAMLNode.Member("key", .text(entity.key.value), entity.key.reason)
        }
        let link = entity.keyLink.map { YAMLNode.mapping([YAMLNode.Member("link", .text($0))]) }
        let parts = entity.keyParts.isEmpty ? nil : YAMLNode.list(entity.keyParts.map(YAMLNode.text))
        let members = [
            YAMLNode.Member("field", .text(entity.key.value)), (link ?? parts).map { YAMLNode.Member("from", $0) },
            entity.keyMade.map { YAMLNode.Member("made", .text($0.value)) },
        ].compactMap(\.self)
        let reasons = [entity.key.reason, entity.keyMade?.reason].compactMap(\.self)
        return YAMLNode.Member("key", .mapping(members), reasons.joined(separator: "; "))
    }

    // MARK: Pull

    private var pull: [YAMLNode.Member]? {
        guard let pull = entity.pull else { return nil }
        var members = [YAMLNode.Member("path", .text(pull.path.value), pull.path.reason)]
        if !pull.query.isEmpty {
            members.append(YAMLNode.Member("query", .block(pull.query.map(Self.parameter))))
        }
        members += list(pull.records.value, pull.paging) + [single(pull.single)]
        if let since = pull.since { members += changes(since) }
        if let deleted = pull.deleted {
            let mark = deleted.value
            let value = mark.value.map { YAMLNode.mapping([YAMLNode.Member(mark.field, .text($0))]) }
            members.append(YAMLNode.Member("deleted", value ?? .text(mark.field), deleted.reason))
        }
        if !children.isEmpty { members.append(YAMLNode.Member("detail", details)) }
        return members
    }

    /// How what changed since a time is asked for.
    private func changes(_ since: Guess<DraftEntity.Since>) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        var parts = [YAMLNode.Member("field", .text(since.value.field))]
        if since.value.isHeader {
            members.append(
                YAMLNode.Member("headers", .mapping([YAMLNode.Member(since.value.parameter, .text("{$since}"))])))
        } else {
            parts.insert(YAMLNode.Member("param", .text(since.value.parameter)), at: 0)
        }
        parts.add("format", since.value.format)
        parts.add("value", since.value.value)
        return members + [YAMLNode.Member("since", .mapping(parts), since.reason)]
    }

    private static func parameter(_ query: DraftEntity.Query) -> YAMLNode.Member {
        let sent = query.sent
        let value = sent.count == 1 ? YAMLNode.text(sent[0]) : .list(sent.map(YAMLNode.text))
        return YAMLNode.Member(query.name, value, query.reason)
    }

    /// Where the records of a list are, and how it is paged, unless that is as usual.
    private func list(_ records: String, _ paging: Guess<DraftPaging>) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        if !records.isEmpty { members.add("records", records) }
        if paging.value != usual {
            members.append(YAMLNode.Member("pagination", PagingWriter.node(paging.value), paging.reason))
        }
        return members
    }

    private func single(_ single: DraftEntity.Single) -> YAMLNode.Member {
        switch single {
        case .none: return YAMLNode.Member("record", .text("none"), "no call for one record was found")
        case .unclear: return YAMLNode.Member("record", .text("none"), "see the TODO below")
        case .path(let path, let at):
            var members = [YAMLNode.Member("path", .text(path))]
            members.add("at", at)
            return YAMLNode.Member("record", .mapping(members))
        }
    }

    private var details: YAMLNode {
        let all = children.compactMap { child -> YAMLNode? in
            guard let below = child.below else { return nil }
            var members = [
                YAMLNode.Member("path", .text(below.path)), YAMLNode.Member("into", .text(child.name)),
                YAMLNode.Member("when_changed", .text("any")),
            ]
            members += list(below.records.value, below.paging)
            return .mapping(members)
        }
        return all.count == 1 ? all[0] : .list(all)
    }

    // MARK: Push

    private var push: [YAMLNode.Member] {
        let all = [
            ("create", [entity.create]), ("update", [entity.update, entity.otherUpdate]), ("delete", [entity.delete]),
        ]
        return all.compactMap { name, found in
            let routes = found.compactMap(\.self)
            let nodes = routes.map { YAMLNode.mapping(members(of: $0, name)) }
            let reasons = routes.compactMap(\.reason)
            return nodes.first.map {
                YAMLNode.Member(
                    name, nodes.count > 1 ? .list(nodes) : $0,
                    reasons.isEmpty ? nil : reasons.joined(separator: "; "))
            }
        }
    }

    private func members(of route: DraftRoute, _ operation: String) -> [YAMLNode.Member] {
        var members = [YAMLNode.Member("call", .text(route.call))]
        if let fields = route.fields { members.append(YAMLNode.Member("fields", .list(fields.map(YAMLNode.text)))) }
        if let body = body(of: route, operation) { members.append(YAMLNode.Member("body", body)) }
        members.add("encoding", route.encoding)
        members.add("record", route.record)
        switch route.lookUp {
        case .key: members.add("look_up", "key")
        case .match(let fields, let path): members.append(YAMLNode.Member("look_up", lookUp(fields, path)))
        case nil: break
        }
        return members
    }

    private func lookUp(_ fields: [String], _ path: String?) -> YAMLNode {
        var members = [YAMLNode.Member("match", .list(fields.map(YAMLNode.text)))]
        if let path, let below = entity.below {
            members.add("path", path)
            members += list(below.records.value, below.paging)
        }
        return .mapping(members)
    }

    private func body(of route: DraftRoute, _ operation: String) -> YAMLNode? {
        let slot = slot(of: route, operation)
        let value = YAMLNode.text("{\(entity.ownKey)}")
        let key = route.keyMember.map { [YAMLNode.Member($0, route.isKeyInList ? .list([value]) : value)] } ?? []
        if operation == "delete" { return key.isEmpty ? nil : .mapping(key) }
        let beside = route.beside.map { YAMLNode.Member($0.name, .text($0.value)) }
        switch route.body {
        case .plain where route.isInList: return .list([Self.fields(slot, with: key + beside)])
        case .plain where key.isEmpty && beside.isEmpty && !route.isPartial && !route.isWhole:
            return names(of: route)
        case .plain: return Self.fields(slot, with: key + beside)
        case .inside(let name):
            let fields = Self.fields(slot, with: key)
            return .mapping([YAMLNode.Member(name, route.isInList ? .list([fields]) : fields)] + beside)
        case .resource(let type, let hasID):
            var members: [YAMLNode.Member] = []
            if !type.isEmpty { members.add("type", type) }
            let chooses = operation == "create" && entity.keyMade == nil && hasID
            if operation == "update" || chooses { members.add("id", "{\(entity.key.value)}") }
            members.append(YAMLNode.Member("attributes", slot))
            return .mapping([YAMLNode.Member("data", .mapping(members))] + beside)
        }
    }

    /// What stands for the fields: the whole record for a call that replaces it, under the upstream's names.
    private func slot(of route: DraftRoute, _ operation: String) -> YAMLNode {
        let isWhole = (route.call.hasPrefix("PUT ") || route.isWhole) && operation == "update" && !route.isPartial
        let slot = isWhole ? "$record" : "$fields"
        return names(of: route).map { YAMLNode.mapping([YAMLNode.Member(slot, $0)]) } ?? .text(slot)
    }

    /// The upstream's names of what is sent; nil if the fields are called the same.
    private func names(of route: DraftRoute) -> YAMLNode? {
        guard !route.names.isEmpty else { return nil }
        let sent = route.names.filter { name in route.fields?.contains(name.field) ?? true }
        return .mapping(sent.map { YAMLNode.Member($0.wire, .text($0.field)) })
    }

    private static func fields(_ slot: YAMLNode, with others: [YAMLNode.Member]) -> YAMLNode {
        others.isEmpty ? slot : .mapping([YAMLNode.Member("<<", slot)] + others)
    }
}
