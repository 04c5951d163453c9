internal import JSONText

/// The key of records that have it only as the end of a text: of their own address, or of a name that is a path to them.
struct LinkedKey {
    let shapes: ShapeReader
    let list: PathPattern
    let item: DataShape

    /// The member that gets the key.
    static let field = "id"

    /// Where that text is; nil if it may name something else than the record.
    var place: String? {
        guard list.parameters.isEmpty, !item.properties.contains(where: { Words.folded($0.name) == Self.field }) else {
            return nil
        }
        if isPath { return "name" }
        if hasLinks { return "_links.self.href" }
        return ["_links.self.href", "links.self", "self", "@id"].first { text(at: $0) != nil }
            ?? ["url", "href"].first { text(at: $0).map(isOwn) == true }
    }

    /// A record with the key as a member.
    var keyed: DataShape {
        let type = DocumentObject([("type", .scalar("string", isPlain: true))])
        var keyed = item
        keyed.properties.insert(DataShape.Property(name: Self.field, parts: [.object(type)]), at: 0)
        return keyed
    }

    /// A call that does not send that text, or what is around it: the upstream makes it.
    static func without(_ place: String, _ call: APIOperation) -> APIOperation {
        var call = call
        let member = String(place.prefix { $0 != "." })
        for index in call.bodies.indices {
            call.bodies[index].shape.properties.removeAll { $0.name == member }
            call.bodies[index].shape.required.remove(member)
        }
        return call
    }

    /// The path to a record that its name is, as Google's design guide has it: `shelves/{shelf}/books/{book}`, if the name is
    /// described with `Format: shelves/{shelf}/books/{book}`. In lower case.
    static func path(named name: DataShape) -> String? {
        let said = (name.description ?? "").lowercased()
        return said.firstMatch(of: /(?:format|form|pattern)[\s:`'"]{1,20}([a-z0-9_-]+\/[{*]\S*)/).map { String($0.1) }
    }

    /// Whether the name of a record in `/memos` is `memos/{memo}`.
    private var isPath: Bool {
        let names = text(at: "name").flatMap(Self.path)?.split(separator: "/").map { Words.folded(String($0)) } ?? []
        return names.count == 2 && names.first == Collection.base(of: list).last.map(Words.folded)
    }

    /// Whether its links may have any names, as Spring describes them: one of them leads to the record itself.
    private var hasLinks: Bool {
        guard let links = item["_links"] else { return false }
        return links.parts.contains { part in
            let link = shapes.resolver.resolve(part).value["additionalProperties"].map(shapes.shape)
            return link?["href"] != nil
        }
    }

    private func text(at place: String) -> DataShape? {
        let shape = shapes.shape(at: JSONPath.steps(place).map(String.init), in: item)
        return shape?.kind == .string ? shape : nil
    }

    /// Whether an address is that of the record: a website has another one.
    private func isOwn(_ address: DataShape) -> Bool {
        let last = Collection.base(of: list).last ?? ""
        if let example = address.example?.text { return example.contains("/\(last)/") }
        let said = (address.description ?? "").lowercased()
        return address.isReadOnly && address.format == "uri"
            || said.contains(/\b(?:hypermedia|canonical|(?:this|the)(?: [a-z]+)? resource)\b/)
    }
}
