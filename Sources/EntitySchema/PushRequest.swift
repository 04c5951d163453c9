package import JSONText

/// What can happen to a record.
package enum Operation: String, Sendable, Equatable, CaseIterable {
    case create, update, delete
}

/// A change as it goes over the wire: the schema's route with its holes filled.
package struct PushRequest: Sendable, Equatable {
    package var method: String
    package var path: String
    /// Nil where nothing is sent but the path.
    package var body: JSONText?
}

extension Entity {
    package func routes(for operation: Operation) -> [PushRoute] {
        switch operation {
        case .create: push.create
        case .update: push.update
        case .delete: push.delete
        }
    }

    /// The operations that the schema can send.
    package var operations: [Operation] { Operation.allCases.filter { !routes(for: $0).isEmpty } }

    /// The first route of the operation whose conditions the record meets.
    package func route(for operation: Operation, record: JSONText) -> PushRoute? {
        routes(for: operation).first { route in
            route.conditions.allSatisfy { record[$0.key]?.plain == $0.value }
        }
    }

    /// The request that sends `body`, the fields that change, of `record`, the whole of it.
    ///
    /// Nil when no route fits or the record lacks a field that the path needs.
    package func request(for operation: Operation, record: JSONText, body: JSONText) -> PushRequest? {
        guard let route = route(for: operation, record: record),
            let path = route.path.filled({ record[$0].map { Self.percentEncoded($0.plain) } })
        else { return nil }
        guard operation != .delete else { return PushRequest(method: route.method, path: path, body: nil) }
        var members = body.members.filter { route.fields?.contains($0.key) ?? true }
        if let names = route.body {
            members = names.sorted { $0.key < $1.key }.compactMap { wire, field in body[field].map { (wire, $0) } }
        }
        return PushRequest(method: route.method, path: path, body: .object(members: members))
    }

    /// The path of a single record, where the entity is served by one.
    package func recordPath(key: String) -> String? {
        pull.map { "\($0.path)/\(Self.percentEncoded(key))" }
    }

    /// How a person would name the record; its key when no template can be filled.
    package func title(of record: JSONText) -> String {
        for title in titles {
            if let text = title.filled({ record[$0]?.plain }) { return text }
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
