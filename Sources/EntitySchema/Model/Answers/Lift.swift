package import JSONText

/// Members that records get when they come from the upstream, which has the values in other places: the key from
/// `sys.id`, from a link, from several members, or from the name under which an object has the record.
///
/// They stand at the front of the record, whose other bytes stay as they came. Everything that follows sees an ordinary
/// record. They are never sent in a whole record.
package struct Lift: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
        /// The text or number there: `sys.id`.
        case value(String)
        /// The last segment of the address there: `https://api.example/contacts/2`.
        case link(String)
        /// The values of these places as one text.
        case parts([String])
        /// The name of the member that has the record: `{"a1": {…}}`.
        case name
    }

    package struct Member: Sendable, Equatable {
        package var name: String
        package var source: Source
        /// A number is made of the text in a link.
        package var isNumber = false
        /// Has the parts that a record may lack: of a line below its order, the order's key.
        package var known: JSONText?

        package init(name: String, source: Source, isNumber: Bool = false) {
            self.name = name
            self.source = source
            self.isNumber = isNumber
        }
    }

    /// Between the parts of a key; inside a part it is written as `%7E`.
    static let separator = "~"

    package var members: [Member]

    package init(_ members: [Member]) { self.members = members }

    /// The member that a list gives each record: the name under which its object has it. Nil for any other list.
    package var named: String? { members.first { $0.source == .name }?.name }

    /// What records have in place of the member; nil if it is no such member, or has no place.
    package func place(of name: String) -> Place? {
        guard let member = members.first(where: { $0.name == name }), !member.source.paths.isEmpty else { return nil }
        return Place(paths: member.source.paths)
    }

    /// Everywhere that these members are read from.
    package var paths: [String] { members.flatMap(\.source.paths) }

    /// A record of the upstream's with these members; one that has no value at a place lacks the member. A member of the
    /// same name that the record has itself gives way. What is no object stays as it is.
    package func lifted(_ record: JSONText) -> JSONText {
        guard record.kind == .object else { return record }
        var front: [(key: String, value: JSONText)] = []
        var rest = record
        for member in members where member.source != .name {
            rest = member.completed(rest.without(member.name))
            if let value = member.value(in: rest) ?? member.value(in: record) { front.append((member.name, value)) }
        }
        return rest.leading(front)
    }

    /// The same for records that may lack parts of their key, which `known` has. One that has none of them itself gets none.
    package func completed(from known: JSONText) -> Lift {
        Lift(
            members.map { member in
                guard case .parts = member.source else { return member }
                var member = member
                member.known = known
                return member
            })
    }

    /// What an answer says that has the key of a record alone; nil for a key that is made here of several parts.
    package func key(_ answered: JSONText, named name: String) -> JSONText? {
        guard let member = members.first(where: { $0.name == name }) else { return answered }
        switch member.source {
        case .value, .name: return answered
        case .link: return member.linked(answered)
        case .parts: return nil
        }
    }

    /// Whether the member is made here of several values, so that the upstream does not know it.
    package func isMade(_ name: String) -> Bool {
        guard let member = members.first(where: { $0.name == name }), case .parts = member.source else { return false }
        return true
    }

    /// A list with each of its records lifted.
    package func lifted(list: JSONText) -> JSONText {
        list.kind == .array ? .array(list.elements.map { lifted($0) }) : list
    }

    /// A lifted record as the upstream had it.
    func lowered(_ record: JSONText) -> JSONText { members.reduce(record) { $0.without($1.name) } }

    /// A record of an upstream that has the members themselves, as one would show it that has them in the places. Names stay:
    /// an object gives them to its members.
    package func placed(_ record: JSONText) -> JSONText {
        members.reduce(record) { record, member in
            guard let value = record[member.name] else { return record }
            let rest = record.without(member.name)
            switch member.source {
            case .value(let path): return rest.setting(value, at: path) ?? record
            case .link(let path):
                let link =
                    value.kind == .null ? value : .string("/\(member.name)/\(Entity.percentEncoded(value.plain))")
                return rest.setting(link, at: path) ?? record
            case .parts: return rest
            case .name: return record
            }
        }
    }
}

extension Lift {
    /// Where upstreams keep keys besides in the record itself, and how a schema says so.
    package static let usualKeys: [(source: Source, text: String)] =
        ["sys.id", "metadata.uid", "$id.value", "_id.$oid", "meta.id"].map { (.value($0), $0) }
        + ["_links.self.href", "links.self", "self", "url", "href", "@id"].map { (.link($0), "{ link: \"\($0)\" }") }
}

extension Lift.Source {
    package var paths: [String] {
        switch self {
        case .value(let path), .link(let path): [path]
        case .parts(let paths): paths
        case .name: []
        }
    }
}

extension Lift.Member {
    /// The record with the parts that it lacks, in their places.
    fileprivate func completed(_ record: JSONText) -> JSONText {
        guard let known, case .parts(let paths) = source else { return record }
        let missing = paths.filter { record.at(path: $0)?.isKeyed != true }
        guard missing.count < paths.count else { return record }
        return missing.reduce(record) { record, path in
            guard let part = known.at(path: path), part.isKeyed else { return record }
            return record.setting(part, at: path) ?? record
        }
    }

    /// Null is null, except in a part; what is neither text nor a number counts as nothing.
    fileprivate func value(in record: JSONText) -> JSONText? {
        switch source {
        case .value(let path):
            guard let found = record.at(path: path), found.isKeyed || found.kind == .null else { return nil }
            return found
        case .link(let path): return record.at(path: path).flatMap(linked)
        case .parts(let paths):
            let parts = paths.compactMap { record.at(path: $0) }.filter(\.isKeyed).map(\.plain)
            return parts.count == paths.count ? .string(Self.joined(parts)) : nil
        case .name: return nil
        }
    }

    fileprivate func linked(_ found: JSONText) -> JSONText? {
        guard found.kind != .null else { return .null }
        guard found.isKeyed, let text = found.kind == .number ? found.text : Self.lastSegment(of: found.plain) else {
            return nil
        }
        guard isNumber, let number = try? JSONText(parsing: text), number.kind == .number, number.plain == text else {
            return .string(text)
        }
        return number
    }

    /// Different parts never make the same text.
    static func joined(_ parts: [String]) -> String {
        parts.map { $0.replacing("%", with: "%25").replacing(Lift.separator, with: "%7E") }
            .joined(separator: Lift.separator)
    }

    /// Without what follows the path of an address, or is to be filled in (`{?projection}`, RFC 6570). Nil for an address
    /// without a path, and one in which a record may not have as many marks in a row.
    static func lastSegment(of address: String) -> String? {
        let path = Substring(address.utf8.prefix { !Self.ends.contains($0) })
        var segments = path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }[...]
        if segments.first?.utf8.last == UInt8(ascii: ":") { segments = segments.dropFirst(2) }
        guard let text = segments.last.map(Entity.percentDecoded) else { return nil }
        return MarkRun.areShort(in: text, upTo: MarkRun.longestUpstream) ? text : nil
    }

    private static let ends = Array("?#{".utf8)
}

extension JSONText {
    /// Whether it can be a key or a part of one.
    fileprivate var isKeyed: Bool { kind == .string || kind == .number }
}

extension Entity {
    /// A single record whose key is only the name under which lists have it: an object with one of the fields at least. It
    /// gets the key that it was asked for by.
    package func named(_ found: JSONText?, like known: JSONText) -> JSONText? {
        guard let lift, lift.named == key, let found, found.kind == .object, let own = known[key],
            fields.contains(where: { $0.name != key && value(of: $0.name, in: found) != nil })
        else { return nil }
        return lift.lifted(found.without(key).leading([(key, own)]))
    }
}

extension PullPlan.Detail {
    /// The children with their own keys, where the key of their parent is a part of these and they lack it.
    package func identified(_ children: [JSONText], under parent: JSONText) -> [JSONText] {
        guard let key, let by, let lift = list.lift, lift.isMade(key) else { return children }
        let completed = lift.completed(from: .object([by: parent]))
        return children.map { $0[key] == nil ? completed.lifted($0) : $0 }
    }
}
