package import JSONText

/// What can happen to a record.
package enum Operation: String, Sendable, Equatable, CaseIterable {
    case create, update, delete
}

/// A change as it goes over the wire: the schema's route with its holes filled.
package struct PushRequest: Sendable, Equatable {
    /// Whose record it changes.
    package var entity: String
    package var method: String
    package var path: String
    /// Nil where nothing is sent but the path.
    package var body: JSONText?
    /// Where the answer holds the record as it now is.
    package var record: Place
    /// The version of the record that the change was made on: the upstream refuses it when that is no longer the one.
    package var version: String?
    /// What is sent as the body in place of `body`, from its file.
    package var content: Content?
    /// Texts that stand in the change or its record and that nothing may repeat, such as an error that quotes them.
    package var secrets: [String] = []
    /// The members of an answer that hold secrets, and that nothing may repeat either.
    package var secretFields: Set<String> = []

    package init(
        entity: String = "", method: String, path: String, body: JSONText?, record: Place = .itself,
        version: String? = nil
    ) {
        self.entity = entity
        self.method = method
        self.path = path
        self.body = body
        self.record = record
        self.version = version
    }
}

extension Entity {
    package func routes(for operation: Operation) -> [PushRoute] {
        switch operation {
        case .create: push.create
        case .update: push.update
        case .delete: push.delete
        }
    }

    /// The operations that callers may ask for: those that the schema can send, and all where nothing is sent.
    package var operations: [Operation] { Operation.allCases.filter { isLocal || !routes(for: $0).isEmpty } }

    /// The first route of the operation whose conditions the record meets and that can send all of `fields`.
    package func route(for operation: Operation, record: JSONText, fields: [String] = []) -> PushRoute? {
        routes(meeting: record, for: operation).first { route in
            operation != .update || fields.allSatisfy(route.canSend)
        }
    }

    /// The operation's routes whose conditions the record meets.
    package func routes(meeting record: JSONText, for operation: Operation) -> [PushRoute] {
        routes(for: operation).filter { $0.isMet(by: record, of: self) }
    }

    /// Whether one request can send all of `body`, the fields of a new or changed record.
    package func canSend(_ body: JSONText, by operation: Operation) -> Bool {
        let fields = body.members.map(\.key)
        return routes(for: operation).contains { route in
            let known = operation == .create ? route.path.placeholders + route.conditions.keys + [key] : []
            return fields.allSatisfy { known.contains($0) || route.canSend($0) }
        }
    }

    /// The request that sends `body`, the fields that change, of `record`, the whole of it.
    ///
    /// Nil when no route fits or the record lacks a field that the path needs.
    package func request(for operation: Operation, record: JSONText, body: JSONText) -> PushRequest? {
        guard let route = route(for: operation, record: record, fields: body.members.map(\.key)),
            let path = path(route.path, of: record)
        else { return nil }
        guard operation != .delete else {
            return PushRequest(entity: name, method: route.method, path: path, body: nil, record: route.record)
        }
        var members = body.members.filter { (route.fields?.contains($0.key) ?? true) && !isDerivedHere($0.key) }
        if let names = route.body {
            members = names.sorted { $0.key < $1.key }.compactMap { wire, field in body[field].map { (wire, $0) } }
        }
        return PushRequest(
            entity: name, method: route.method, path: path, body: .object(members: members), record: route.record)
    }

    /// A body without what is worked out here.
    package func withoutDerivedFields(_ body: JSONText) -> JSONText {
        guard !derivedFields.isEmpty else { return body }
        return .object(members: body.members.filter { !isDerivedHere($0.key) })
    }

    private func isDerivedHere(_ field: String) -> Bool { self[field: field]?.isDerivedHere ?? false }

    /// A path with its holes filled from a record; nil when one of them would stay empty.
    package func path(_ template: Template, of record: JSONText) -> String? {
        template.filled { value(of: $0, in: record).map { Self.percentEncoded($0.plain) } }
    }

    /// The path of a single record, where the entity is served by one.
    package func recordPath(of record: JSONText) -> String? {
        pull.flatMap { path($0.single.path, of: record) }
    }

    /// A field's value: the member of its name or, where there is none, what stands at the field's source.
    package func value(of field: String, in record: JSONText) -> JSONText? {
        record[field] ?? self[field: field]?.source.flatMap { record.at(path: $0) }
    }

    /// Whether the upstream has marked the record as deleted (`pull.deleted`).
    package func isDeleted(_ record: JSONText) -> Bool {
        guard let mark = pull?.deleted.flatMap({ record[$0] }) else { return false }
        return mark.kind != .null && mark.boolean != false
    }

    /// How a person would name the record; its key when no template can be filled without a secret field.
    package func title(of record: JSONText) -> String {
        for title in titles {
            let text = title.filled { self[field: $0]?.secret == true ? nil : value(of: $0, in: record)?.plain }
            if let text { return text }
        }
        return record[key]?.plain ?? ""
    }

    /// Everything but RFC 3986's unreserved characters as `%XX`, so that a key can never be more than one segment.
    package static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let letter = Unicode.Scalar(byte)
            if byte < 0x80,
                letter.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".unicodeScalars.contains(letter)
            {
                result.unicodeScalars.append(letter)
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        // A lone "." or ".." would be a step in the path rather than a name.
        return result == "." || result == ".." ? result.replacing(".", with: "%2E") : result
    }
}

extension PushRoute {
    func isMet(by record: JSONText, of entity: Entity) -> Bool {
        conditions.allSatisfy { entity.value(of: $0.key, in: record)?.plain == $0.value }
    }

    /// The fields that it can send; nil for any.
    package var sendable: [String]? { fields ?? body.map { $0.values.sorted() } }

    package func canSend(_ field: String) -> Bool { sendable?.contains(field) ?? true }
}
