internal import JSONText

/// Reads the top level of a schema file and `upstream`; entities have their own reader.
struct SchemaReader {
    let root: SchemaNode

    func schema() throws(SchemaError) -> EntitySchema {
        try root.requireKeys(["schema", "title", "version", "upstream", "entities", "dashboard", "reminders"])
        let nameNode = try root.required("schema")
        let name = try nameNode.string()
        guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }) else {
            throw nameNode.error("\(name) cannot be a schema's name; expected letters, digits, - or _")
        }
        let upstream = try root.required("upstream")
        let plan = try self.upstream(upstream)
        let list = try ListReader(node: upstream, base: nil).list()
        var entities: [Entity] = []
        for (name, node) in try root.required("entities").members() {
            entities.append(try EntityReader(node: node, name: name, list: list, record: plan.record).entity())
        }
        guard !entities.isEmpty else { throw try root.required("entities").error("expected at least one entity") }
        entities = try DerivationReader(root: root, entities: entities).read()
        entities = try WindowReader(root: root, entities: entities, hasAccount: plan.account != nil).read()
        var schema = EntitySchema(
            name: name, title: try root.child("title")?.string() ?? name, upstream: plan, entities: entities,
            dashboard: try dashboard(root.child("dashboard"), entities),
            reminders: try reminders(root.child("reminders"), entities),
            version: try root.child("version").map { (node) throws(SchemaError) in try schemaVersion(node) })
        schema.upstream.signals = try SignalReader(
            node: upstream.child("signals"), entities: entities
        ).sources()
        try SchemaCheck(schema: schema, root: root).run()
        return schema.withForeignKeys.withDeletedDetails.withTies.withPartners.withWindowIndexes.withEmbeddedSecrets
            .withFarNames
            .withBatches
    }

    private func schemaVersion(_ node: SchemaNode) throws(SchemaError) -> String {
        let version = try node.string()
        guard version.count <= 64,
            version.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) })
        else { throw node.error("expected a version of letters, digits, -, _ and ., at most 64") }
        return version
    }

    private func dashboard(_ node: SchemaNode?, _ entities: [Entity]) throws(SchemaError) -> DashboardPlan? {
        guard let node else { return nil }
        return try DashboardReader(node: node, entities: entities).plan()
    }

    private func reminders(_ node: SchemaNode?, _ entities: [Entity]) throws(SchemaError) -> [ReminderRule] {
        guard let node else { return [] }
        return try ReminderReader(node: node, entities: entities).rules()
    }

    private func upstream(_ node: SchemaNode) throws(SchemaError) -> UpstreamPlan {
        try node.requireKeys([
            "base_url", "auth", "account", "probe", "error_message", "success", "account_errors", "answers",
            "pagination", "records", "empty", "record", "idempotency_header", "headers", "version", "limits",
            "settle", "batch", "signals",
        ])
        let auth = try authReader(node.child("auth"))
        let headers = try headers(node.child("headers"))
        return UpstreamPlan(
            baseURL: try baseURL(node.child("base_url")),
            account: try account(node.child("account")),
            tokenPlace: try auth?.tokenPlace(beside: headers) ?? .bearer,
            refresh: try auth?.refresh(),
            session: try auth?.session(),
            check: try auth?.check(),
            login: try auth?.login() ?? [],
            logout: try auth?.logout(),
            probe: try node.child("probe")?.fixedPath() ?? "/",
            answers: try AnswerReader(node: node).plan(),
            record: try (node.child("record") ?? node.child("records"))?.place() ?? .itself,
            idempotencyHeader: try idempotencyHeader(node.child("idempotency_header"), beside: headers),
            headers: headers,
            version: try version(node.child("version")),
            batch: try batch(node.child("batch")),
            limits: try limits(node.child("limits")),
            settle: try settle(node.child("settle")))
    }

    private func headers(_ node: SchemaNode?) throws(SchemaError) -> [UpstreamPlan.Header] {
        var headers: [UpstreamPlan.Header] = []
        for (name, value) in try node?.members() ?? [] {
            let header = UpstreamPlan.Header(name: name, value: try value.addedHeader(name, mayAccept: true))
            for secret in header.secretNames { try value.checkCredential(secret) }
            let others = header.filled(with: [:]).value
            try value.refuseTemplate(in: others, else: ", or {$secret.name}; auth.send says how a token is sent")
            headers.append(header)
        }
        return headers
    }

    private func idempotencyHeader(
        _ node: SchemaNode?, beside headers: [UpstreamPlan.Header]
    ) throws(SchemaError) -> UpstreamPlan.IdempotencyHeader? {
        guard let node else { return nil }
        if node.isMapping { try node.requireKeys(["header", "for"]) }
        let header = node.isMapping ? try node.required("header") : node
        let name = try header.string()
        try header.checkHeader(name, "")
        guard !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
            throw header.error("\(name) is in upstream.headers too; remove it there")
        }
        return UpstreamPlan.IdempotencyHeader(
            name: name, operations: try node.isMapping ? operations(node.child("for")) : Set(Operation.allCases))
    }

    private func operations(_ node: SchemaNode?) throws(SchemaError) -> Set<Operation> {
        guard let node else { return Set(Operation.allCases) }
        var operations: Set<Operation> = []
        for element in try node.oneOrMore() { operations.insert(try element.word()) }
        guard !operations.isEmpty else { throw node.error("expected create, update or delete, or a list of these") }
        return operations
    }

    private func limits(_ node: SchemaNode?) throws(SchemaError) -> RequestLimits? {
        guard let node else { return nil }
        return try LimitsReader(node: node).limits()
    }

    private func batch(_ node: SchemaNode?) throws(SchemaError) -> BatchPlan? {
        guard let node else { return nil }
        return try BatchReader(node: node).shared()
    }

    private func settle(_ node: SchemaNode?) throws(SchemaError) -> Duration {
        guard let node else { return UpstreamPlan.defaultSettle }
        let settle = try node.duration()
        guard settle <= .seconds(3600) else { throw node.error("expected at most 1h") }
        return settle
    }

    private func baseURL(_ node: SchemaNode?) throws(SchemaError) -> String? {
        guard let node else { return nil }
        let url = try node.string()
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw node.error("expected an address that begins with https:// (or http://)")
        }
        guard !url.contains("?"), !url.contains("#") else {
            throw node.error(
                "paths are added to this address, so it has no ? and no #; write parameters in query, or in path")
        }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    private func account(_ node: SchemaNode?) throws(SchemaError) -> UpstreamPlan.Account? {
        guard let node else { return nil }
        try node.requireKeys(["path", "id", "name", "title"])
        return UpstreamPlan.Account(
            path: try node.required("path").fixedPath(), id: try node.required("id").place(),
            name: try node.child("name")?.pattern(), title: try node.child("title")?.pattern())
    }

    private func authReader(_ node: SchemaNode?) throws(SchemaError) -> AuthReader? {
        guard let node else { return nil }
        return try AuthReader(node: node)
    }

    private func version(_ node: SchemaNode?) throws(SchemaError) -> UpstreamPlan.Version? {
        guard let node else { return nil }
        try node.requireKeys(["etag", "field", "header", "value"])
        if let etag = node.child("etag") {
            if let other = ["field", "header", "value"].lazy.compactMap(node.child).first {
                throw other.error("etag says how the version is sent; remove this key, or etag")
            }
            return try etag.boolean() ? .etag : nil
        }
        let member = try node.required("field")
        let places = try member.place().paths
        guard places.count == 1, !JSONPath.isThroughList(places[0]) else {
            throw member.error("expected one place of one value, such as revision or meta.versionId")
        }
        var field = UpstreamPlan.VersionField(
            place: places[0], header: try node.required("header").versionHeaderName())
        guard let value = node.child("value") else { return .field(field) }
        let text = try value.string()
        guard let template = Template(text), template.placeholders == [field.place],
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else {
            throw value.error("expected text in ASCII with {\(field.place)} in it, such as '\"{\(field.place)}\"'")
        }
        if case .text(let before) = template.parts[0] { field.before = before }
        if template.parts.count > 1, case .text(let after)? = template.parts.last { field.after = after }
        return .field(field)
    }
}

extension EntitySchema {
    /// Reads and checks one schema file; `file` is named in every error. `settings` are those of this installation.
    package init(yaml: String, file: String, settings: [String: String] = [:]) throws(SchemaError) {
        let written = try SchemaNode(yaml: yaml, file: file)
        let root = SettingFiller.isNeeded(by: yaml) ? try written.filled(with: settings) : written
        self = try SchemaReader(root: root).schema()
        try CredentialCheck(root: written).run()
    }
}

extension EntitySchema {
    /// Sets the key of a detail's records and the field by which they refer to their parent, indexed for the lookup.
    fileprivate var withForeignKeys: EntitySchema {
        var entities = entities
        for (index, parent) in self.entities.enumerated() {
            for (place, detail) in (parent.pull?.details ?? []).enumerated() {
                guard let child = self.entities.firstIndex(where: { $0.name == detail.entity }),
                    let link = self.entities[child].fields.firstIndex(where: {
                        $0.kind == .reference(to: parent.name) && !$0.isStoredSealed
                    })
                else { continue }
                entities[child].fields[link].indexed = true
                let (fields, key) = (self.entities[child].fields, self.entities[child].key)
                let lift = self.entities[child].lift
                entities[index].pull?.details[place].by = fields[link].name
                entities[index].pull?.details[place].key = key
                entities[index].pull?.details[place].list.lift = lift
                entities[index].pull?.details[place].list.lone = LoneRecord(
                    key: key, lift: lift, fields: fields, link: fields[link].name)
            }
        }
        var schema = self
        schema.entities = entities
        return schema
    }

    /// Marks the details whose records are deleted with their parent, because nothing else would ever delete them.
    fileprivate var withDeletedDetails: EntitySchema {
        var schema = self
        for (index, parent) in entities.enumerated() {
            for (place, detail) in (parent.pull?.details ?? []).enumerated() {
                guard let child = self[detail.entity], child.pull == nil, parents(of: child).count == 1 else {
                    continue
                }
                let isRuled = parent.relations.contains { relation in
                    guard case .many(let field, _) = relation.kind, relation.entity == child.name else { return false }
                    return relation.isRuled && field == detail.by
                }
                schema.entities[index].pull?.details[place].goesAlong = !isRuled
            }
        }
        return schema
    }

    fileprivate var withFarNames: EntitySchema {
        var schema = self
        for (index, entity) in entities.enumerated() {
            schema.entities[index].farNames = entity.farNamesInPaths
            schema.entities[index].addressFields = entity.fieldsInAddresses(
                and: parents(of: entity).compactMap(\.detail.by))
            schema.entities[index].nests = entity.objectsWithFields
        }
        return schema
    }

    fileprivate var withPartners: EntitySchema {
        var schema = self
        for other in entities.flatMap(\.fields).compactMap(\.waitsFor) {
            guard let index = entities.firstIndex(where: { $0.name == other.entity }),
                let place = entities[index].fields.firstIndex(where: { $0.name == other.field })
            else { continue }
            schema.entities[index].fields[place].isWaitedFor = true
        }
        return schema
    }

    /// Sets `ties`, and indexes the references by which tied records are looked up.
    fileprivate var withTies: EntitySchema {
        var schema = self
        for parent in entities {
            for relation in parent.relations {
                guard case .many(let field, let rule) = relation.kind,
                    let index = entities.firstIndex(where: { $0.name == relation.entity }),
                    let place = entities[index].fields.firstIndex(where: { $0.name == field })
                else { continue }
                if relation.isSingle {
                    schema.entities[index].fields[place].indexed = true
                    schema.entities[index].singleReferences.append(field)
                }
                let isCounted = parent.fields.contains { $0.derivation?.relation == relation.name }
                guard rule != .keep || isCounted else { continue }
                schema.entities[index].fields[place].indexed = true
                schema.entities[index].ties.append(
                    Entity.Tie(entity: parent.name, field: field, onDelete: rule, isCounted: isCounted))
            }
        }
        return schema
    }
}

extension Derivation {
    /// The relation with the records that it is computed from.
    fileprivate var relation: String? { if case .children(let figure) = self { figure.relation } else { nil } }
}
