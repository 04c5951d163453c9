package import JSONText

/// The requests for single records of an entity: reading one, changing one, and transferring its content.
extension Entity {
    /// The request that sends `body`, the fields that change, of `record`, the whole record. `version` is the server's
    /// version that the change was made on; a creation has none. `remote` is the record as the server last said it, for
    /// an update that sends more of the record than it changes. `address`: the record with the values that lead to it
    /// upstream, if they may differ from its own.
    ///
    /// Nil when no route fits or the record lacks a field that the path needs.
    package func request(
        for operation: Operation, record: JSONText, body: JSONText, version: String? = nil, remote: JSONText? = nil,
        address: JSONText? = nil
    ) -> PushRequest? {
        guard let route = route(for: operation, record: record, fields: body.members.map(\.key)),
            let path = path(of: route, for: operation, record, at: address)
        else { return nil }
        let known = address.map { moved($0, by: body) } ?? record
        guard operation != .delete else {
            let envelope = envelope(of: route, record)
            var request = request(operation, route, path, envelope?.enclosing(.null), version)
            request.recordKey = record[key]?.plain
            request.envelope = envelope
            request.encoding = route.encoding
            request.lift = lift?.completed(from: known)
            return request
        }
        // A new record has no members yet.
        let base = operation == .update ? remote : route.sendsRecord ? .object([:]) : nil
        let members =
            members(of: body, over: base, route)
            + route.html.sorted { $0.key < $1.key }.compactMap { wire, field in
                body[field]?.string.map { (key: wire, value: JSONText.string(HTMLText.paragraph($0))) }
            }
        var request = request(operation, route, path, .object(members: members), operation == .create ? nil : version)
        request.recordKey = operation == .create ? nil : record[key]?.plain
        request.envelope = envelope(of: route, record)
        request.encoding = route.encoding
        request.lift = lift?.completed(from: known)
        name(&request, by: route, record)
        return request
    }

    /// The form around what the route sends, with the record's values as the upstream takes them.
    private func envelope(of route: PushRoute, _ record: JSONText) -> BodyTemplate? {
        route.envelope?.filled { name in
            value(of: name, in: record).map { self[field: name]?.onWire($0) ?? $0 }
        }
    }

    /// What the route sends, with the values as the upstream takes them.
    private func members(
        of body: JSONText, over remote: JSONText?, _ route: PushRoute
    ) -> [(key: String, value: JSONText)] {
        let body = keyForm == .server ? body.without(key) : body
        let whole: JSONText? = route.sendsRecord ? remote : .none
        guard let places = route.body else {
            return sent(of: body, over: whole, route).map { name, value in
                (name, onWire(value, of: name, over: remote, route))
            }
        }
        let sent = places.filled { name in
            let value = body[name] ?? whole.flatMap { self.value(of: name, in: $0) }
            return value.map { onWire($0, of: name, over: remote, route) }
        }
        return sent?.members ?? []
    }

    private func onWire(_ value: JSONText, of name: String, over remote: JSONText?, _ route: PushRoute) -> JSONText {
        guard let field = self[field: name] else { return value }
        guard route.encoding == .mergePatch, let remote else { return field.onWire(value) }
        return BodyEncoding.mergePatch(from: self.value(of: name, in: remote), to: field.onWire(value))
    }

    /// The fields that change; all of the route's, with those of `remote` that do not change.
    private func sent(
        of body: JSONText, over remote: JSONText?, _ route: PushRoute
    ) -> [(key: String, value: JSONText)] {
        let changed = body.members.filter { member in
            (route.fields?.contains(member.key) ?? (member.key != route.file)) && !isDerivedHere(member.key)
        }
        guard let remote else { return changed }
        guard let fields = route.fields else { return laid(changed, over: remote).members }
        let others = fields.filter { body[$0] == nil && !isDerivedHere($0) }
        return changed + others.compactMap { field in value(of: field, in: remote).map { (field, $0) } }
    }

    /// The whole record with the changed fields, each in its original place. So are those that were changed before, which the
    /// server has not shown since: the record has them under their own names.
    private func laid(_ changed: [(key: String, value: JSONText)], over remote: JSONText) -> JSONText {
        let shown = lift?.lifted(remote) ?? remote
        let unseen = fields.compactMap { field in
            field.link == nil || remote[field.name] == shown[field.name]
                ? nil : remote[field.name].map { (key: field.name, value: $0) }
        }
        let remote = lift?.lowered(remote) ?? remote
        let whole = remote.setting(.object(members: unseen)).setting(.object(members: changed))
        return fields.reduce(whole) { record, field in
            guard let place = field.source ?? field.link, let value = whole[field.name],
                remote[field.name] == nil || remote.at(path: place) != nil
            else { return record }
            return record.without(field.name).setting(field.onWire(value), at: place) ?? record
        }
    }

    /// Whether an update of these fields can only be formed from the record as the server has it: it sends more of the
    /// record than it changes, or names the members of an object that are to go.
    package func needsRemote(updating fields: [String], record: JSONText) -> Bool {
        guard let route = route(for: .update, record: record, fields: fields) else { return false }
        if route.encoding == .mergePatch, fields.contains(where: { self[field: $0]?.kind == .object }) { return true }
        return route.sendsRecord && route.sendable.map { !$0.allSatisfy(fields.contains) } ?? true
    }

    /// The request that uploads `content`, or with nil deletes the content; nil when the schema has no route for it. `record`
    /// has the values that lead to it upstream.
    package func request(for upload: Content?, record: JSONText) -> PushRequest? {
        guard let route = upload == nil ? content?.delete : content?.upload, let path = path(route.path, of: record)
        else { return nil }
        // The record stays, whatever happens to its content.
        var request = request(.update, route, path, nil, nil)
        request.content = upload
        if upload != nil { name(&request, by: route, record) }
        return request
    }

    /// Sets the part that carries the content, and the name of its file.
    private func name(_ request: inout PushRequest, by route: PushRoute, _ record: JSONText) {
        guard let part = route.file else { return }
        request.file = PushRequest.File(part: part, record: record[key]?.plain ?? "")
    }

    private func request(
        _ operation: Operation, _ route: PushRoute, _ path: String, _ body: JSONText?, _ version: String?
    ) -> PushRequest {
        var request = PushRequest(
            entity: name, method: route.method, path: path, body: body, record: route.record, version: version,
            operation: operation)
        request.isRecordInherited = route.isRecordInherited
        request.key = key
        request.lift = lift
        return request
    }

    /// The request for a single record; nil when the entity has none, or a field that the path needs is unknown.
    package func recordRequest(of record: JSONText) -> WireRequest? {
        recordPath(of: record).map { path in
            var request = WireRequest.get(path)
            if let single = pull?.single, single.method == "POST" {
                let body = single.body?.filled { value(of: $0, in: record) }.enclosing(.null)
                request = .query(path, body)
            }
            request.mayQuoteAnswer = secretPlaces.isEmpty
            return request
        }
    }

    /// The path of a single record, if the entity has one.
    package func recordPath(of record: JSONText) -> String? {
        pull.flatMap { $0.single.isServed ? path($0.single.path, of: record) : nil }
    }

    /// A path with its placeholders filled from a record, but for `{$key}`; nil when one of them would stay empty, or
    /// lead elsewhere.
    package func path(_ template: Template, of record: JSONText) -> String? {
        path(template) { value(of: $0, in: record) }
    }

    func path(_ template: Template, _ value: (String) -> JSONText?) -> String? {
        template.filled { name in
            guard name != Template.key else { return PushRequest.keyMark }
            return value(name).flatMap {
                self[field: name]?.isPath == true ? Self.segments($0.plain) : Self.segment($0.plain)
            }
        }
    }

    /// A text as the segments that its slashes make; nil if one is empty or leads elsewhere.
    private static func segments(_ text: String) -> String? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let segments = parts.compactMap { $0.isEmpty ? nil : segment(String($0)) }
        return segments.count == parts.count ? segments.joined(separator: "/") : nil
    }

    /// A text as one segment of a path; nil for `.` and `..`, and for a text that has `..` between slashes: clients and servers
    /// take them for steps to another place, also when they are escaped.
    static func segment(_ text: String) -> String? { isStep(text) || leadsUp(text) ? nil : percentEncoded(text) }

    /// The fields that a record has only in other places (`from`), under their own names, as the creation of a record has them.
    package func movedFields(of record: JSONText) -> [(key: String, value: JSONText)] {
        fields.compactMap { field in
            guard let source = field.source, field.name != key, !field.isDerivedHere, record[field.name] == nil,
                let value = record.at(path: source), value.kind != .null
            else { return nil }
            return (field.name, value)
        }
    }

    /// A body without the fields that are computed locally.
    package func withoutDerivedFields(_ body: JSONText) -> JSONText {
        guard !derivedFields.isEmpty else { return body }
        return .object(members: body.members.filter { !isDerivedHere($0.key) })
    }

    package func isDerivedHere(_ field: String) -> Bool { self[field: field]?.isDerivedHere ?? false }

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
        return result
    }
}
