internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Applies one write by the schema's push routes.
///
/// A route's conditions are part of its meaning: a body that contradicts them does not match the route, and missing
/// values are taken from them.
struct PushHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    func answer(_ matches: [Routes.Match], _ store: inout Store) throws(Refusal) -> Answer {
        let form = try form(for: matches)
        var calls: [Call] = []
        for match in suitable(typed(matches), store) {
            if let call = try call(match, form, store) { calls.append(call) }
        }
        guard let call = calls.first(where: \.fitsAsItIs) ?? calls.first(where: \.fitsWithConditions) else {
            throw .invalid("the body contradicts the conditions of this path's routes; correct it")
        }
        var answer = try apply(call, form?.content, &store)
        answer.applied = true
        return answer
    }

    /// Those that take the media type of the body; all of them when none does.
    private func typed(_ matches: [Routes.Match]) -> [Routes.Match] {
        let type = request.headers[single: "Content-Type"]
        let typed = matches.filter { match in
            if case .push(_, _, let route) = match.target { route.encoding.mediaType == type } else { false }
        }
        return typed.isEmpty ? matches : typed
    }

    /// One call that both creates and changes, such as a PUT at the record's own path: what it does depends on whether
    /// there is such a record.
    private func suitable(_ matches: [Routes.Match], _ store: Store) -> [Routes.Match] {
        func isCreation(_ match: Routes.Match) -> Bool {
            if case .push(_, .create, _) = match.target { true } else { false }
        }
        guard matches.contains(where: isCreation), !matches.allSatisfy(isCreation) else { return matches }
        return matches.filter { match in
            guard case .push(let name, _, let route) = match.target, let entity = handler.schema[name] else {
                return true
            }
            return isCreation(match) == (store.find(entity, where: naming(match, route, entity)) == nil)
        }
    }

    // MARK: Reading a call

    /// A write in the schema's own terms.
    private struct Call {
        var entity: Entity
        var operation: Operation
        /// Of the existing record; empty for a create.
        var key: String
        var route: PushRoute
        /// The body's members under their field names, with the values from path and conditions.
        var fields: JSONText
        /// All conditions hold without added values, and the route knows every name in the body.
        var fitsAsItIs: Bool
        /// No condition is contradicted.
        var fitsWithConditions: Bool
    }

    /// Nil when the path takes JSON.
    private func form(for matches: [Routes.Match]) throws(Refusal) -> ContentForm? {
        for match in matches {
            guard case .push(let name, _, let route) = match.target, let part = route.file,
                let entity = handler.schema[name]
            else { continue }
            return try ContentForm(request, of: entity, part: part, fields: route.body?.flat)
        }
        return nil
    }

    /// The values that name a record: those in the path, and the key that only the query or the body has.
    private func naming(
        _ match: Routes.Match, _ route: PushRoute, _ entity: Entity
    ) -> [(name: String, value: String)] {
        var named = match.placeholders
        if named[entity.key] == nil, entity.lift == nil {
            named[entity.key] = keyInQuery(route, entity) ?? keyInBody(route, entity)
        }
        return named.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    private func missing(_ match: Routes.Match, _ route: PushRoute, _ entity: Entity) -> Refusal {
        let key = naming(match, route, entity).first { $0.name == entity.key }?.value ?? ""
        return .notFound("record \(key) in \(entity.name)")
    }

    /// `7` of `?id=7` for a route with `?id={id}`.
    private func keyInQuery(_ route: PushRoute, _ entity: Entity) -> String? {
        let query = route.path.source.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let pairs = query.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        guard let name = pairs.first(where: { $0.count == 2 && $0[1] == "{\(entity.key)}" })?.first else { return nil }
        return PercentCoding.parameters(request.query)?.first { $0.name == name }?.value
    }

    private func keyInBody(_ route: PushRoute, _ entity: Entity) -> String? {
        guard let form = route.envelope, let body = try? JSONText(request.body) else { return nil }
        return form.values(in: body)?[entity.key]?.plain
    }

    /// Nil when the target is not a write.
    private func call(_ match: Routes.Match, _ form: ContentForm?, _ store: Store) throws(Refusal) -> Call? {
        guard case .push(let name, let operation, let route) = match.target, let entity = handler.schema[name] else {
            return nil
        }
        let placeholders = match.placeholders.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        var present: JSONText?
        if operation != .create {
            present = store.find(entity, where: naming(match, route, entity))
            guard present != nil else { throw missing(match, route, entity) }
        }
        let body = try fields(for: operation, route, entity, form)
        let sent = (body?.members ?? []).filter { route.html[$0.key] == nil }
        try handler.settings.shape?.check(body, route.call, knows: route.wireNames)
        var fields = JSONText.object(members: named(sent, by: route, entity))
        let known = route.body?.names ?? route.fields.map(Set.init)
        try checkWays(sent.map(\.key), known, route, entity.routes(for: operation))
        var call = Call(
            entity: entity, operation: operation, key: present?[entity.key]?.plain ?? "",
            route: route, fields: fields,
            fitsAsItIs: known.map { known in sent.allSatisfy { known.contains($0.key) } } ?? true,
            fitsWithConditions: true)
        for (field, text) in route.conditions.sorted(by: { $0.key < $1.key }) {
            if let given = fields[field], given.plain != text { call.fitsWithConditions = false }
            if (fields[field] ?? present.flatMap { entity.value(of: field, in: $0) })?.plain != text {
                call.fitsAsItIs = false
            }
            fields = fields.setting(field, to: entity.value(text, for: field))
        }
        if operation == .create {
            for (name, value) in placeholders where entity[field: name] != nil {
                fields = fields.setting(name, to: entity.value(value, for: name))
            }
            guard fits(placeholders, fields, entity, store) else { throw .notFound("such path") }
        }
        call.fields = fields
        call.fitsAsItIs = call.fitsAsItIs && call.fitsWithConditions
        return call
    }

    /// What was sent, by the names of the fields; names that the route does not know stay.
    private func named(
        _ sent: [(key: String, value: JSONText)], by route: PushRoute, _ entity: Entity
    ) -> [(key: String, value: JSONText)] {
        let unknown = sent.filter { route.body?.names.contains($0.key) == false }
        let known = route.body.map { $0.values(in: .object(members: sent)) + unknown } ?? sent
        let body = written(by: route, of: entity)
        return known.map { name, value in (key: name, value: body.value(value, of: name)) }
    }

    /// Nil for a deletion.
    private func fields(
        for operation: Operation, _ route: PushRoute, _ entity: Entity, _ form: ContentForm?
    ) throws(Refusal) -> JSONText? {
        if let form { return form.fields }
        return operation == .delete ? .none : try written(by: route, of: entity).fields()
    }

    private func written(by route: PushRoute, of entity: Entity) -> WriteBody {
        WriteBody(request: request, route: route, entity: entity)
    }

    /// Whether the path names the right owners of the records that a new one refers to.
    private func fits(
        _ placeholders: [(name: String, value: String)], _ fields: JSONText, _ entity: Entity, _ store: Store
    ) -> Bool {
        placeholders.allSatisfy { name, value in
            entity[field: name] != nil || store.value(of: name, in: fields, entity)?.plain == value
        }
    }

    /// Throws for a name that this route does not know and another path has.
    private func checkWays(
        _ names: [String], _ known: Set<String>?, _ route: PushRoute, _ others: [PushRoute]
    ) throws(Refusal) {
        guard let known else { return }
        for name in names where !known.contains(name) {
            let other = others.first { $0.path != route.path && $0.sendable?.contains(name) == true }
            if other != nil { throw .invalid("\(name) cannot be changed by this path; use its own path") }
        }
    }

    // MARK: Applying it

    private func apply(
        _ call: Call, _ content: Store.Content?, _ store: inout Store
    ) throws(Refusal) -> Answer {
        switch call.operation {
        case .create:
            var record = try created(by: call, &store)
            if let content { record = try store.keep(content, of: record, in: call.entity, at: now) }
            return habits(call, store).created(record, from: call.fields)
        case .update:
            try checkPrecondition(call, store)
            let record = try store.update(call.entity, key: call.key, with: written(call, store), at: now)
            return habits(call, store).updated(record, key: call.key, from: call.fields)
        case .delete:
            try checkPrecondition(call, store)
            try store.delete(call.entity, key: call.key, at: now)
            return habits(call, store).deleted()
        }
    }

    private func created(by call: Call, _ store: inout Store) throws(Refusal) -> JSONText {
        let rule = handler.settings.shape?.calls[call.route.call]
        if let field = rule?.unique, let value = call.fields[field]?.plain,
            let known = store.find(call.entity, where: [(field, value)])
        {
            throw .exists(call.entity.name, known[call.entity.key]?.plain ?? "")
        }
        if rule?.books == true { return try store.book(call.fields, in: call.entity, at: now) }
        return try store.create(call.fields, in: call.entity, at: now)
    }

    private func habits(_ call: Call, _ store: Store) -> AnswerHabits {
        AnswerHabits(
            handler: handler, store: store, entity: call.entity, place: call.route.record,
            call: call.route.call, now: now)
    }

    /// The fields of an update with their values afterwards; a PUT that replaces the record sets those that it does not
    /// send to null.
    private func written(_ call: Call, _ store: Store) -> JSONText {
        guard let record = store.record(call.entity.name, key: call.key) else { return call.fields }
        let body = written(by: call.route, of: call.entity)
        let fields = JSONText.object(
            members: call.fields.members.map { name, value in
                (name, body.value(value, over: call.entity.value(of: name, in: record)))
            })
        guard store.habits[.replacingPut], call.route.method == "PUT" else { return fields }
        let kept =
            [call.entity.key, call.entity.pull?.changedAt].compactMap(\.self) + Array(call.route.conditions.keys)
        return call.entity.fields.reduce(fields) { fields, field in
            guard !kept.contains(field.name), !field.isDerivedHere, call.route.canSend(field.name),
                fields[field.name] == nil, call.entity.value(of: field.name, in: record) ?? .null != .null
            else { return fields }
            store.note(.replacingPut)
            return fields.setting(field.name, to: .null)
        }
    }

    /// By entity tag, and by the schema's version field.
    private func checkPrecondition(_ call: Call, _ store: Store) throws(Refusal) {
        guard let record = store.record(call.entity.name, key: call.key) else { return }
        if case .field(let field) = handler.schema.upstream.version {
            let versions = request.headers[all: field.header]
            let version = field.sent(record.at(path: field.place)?.plain ?? "")
            guard versions.allSatisfy({ $0 == version }) else { throw .changed }
            if field.header.lowercased() == "if-match" { return }
        }
        let tags = request.headers[all: "If-Match"]
        let tag = EntityTag(of: record)
        guard tags.isEmpty || tags.contains(where: tag.isStronglyIn) else { throw .changed }
    }
}

extension Entity {
    /// The value of a plain text in a path, a condition or a form.
    func value(_ text: String, for field: String) -> JSONText {
        switch self[field: field]?.kind {
        case .boolean, .integer, .number, .money, .object, .list: (try? JSONText(parsing: text)) ?? .string(text)
        default: .string(text)
        }
    }
}
