/// A name in braces in the path of one record, and the member of a record that stands for it.
struct PathParameter {
    let name: String
    /// What the document says about it, if it does.
    var said: APIOperation.Parameter?
    let list: PathPattern
    let item: DataShape
    let shapes: ShapeReader

    private static let idWords: Set = ["id", "ids", "gid", "sid", "uuid", "guid", "identifier"]
    /// What people also call the members that identify a record.
    private static let synonyms: [String: [String]] = [
        "index": ["number"], "username": ["login", "name"], "user": ["login", "username"],
        "org": ["login", "name"], "organization": ["login", "name"], "team": ["name"], "pk": ["id"],
        "identifier": ["id"],
    ]
    /// Words of a description that say which member it is.
    private static let nouns = ["username", "login", "slug", "email", "code", "number", "name"]

    /// What the document says about a name in a path, at best with a description.
    static func said(_ name: String, in parameters: [APIOperation.Parameter]) -> APIOperation.Parameter? {
        let own = parameters.filter { $0.place == "path" && $0.name == name }
        return own.first { $0.description != nil } ?? own.first
    }

    /// Nil if it is not clear: a request with the wrong value would change another record.
    func member(key: String?) -> String? {
        if let direct { return direct }
        let named = [described, synonym].compactMap(\.self).first { !isNumber || isNumberMember($0) }
        return named ?? key.flatMap { isName(of: $0) ? $0 : nil }
    }

    /// The member of that name: `{customerID}`, `{index_name}`, `{project_name_or_id}`. The `order_id` of an order that
    /// also has an `id` is its `id`.
    var direct: String? {
        let all = Words.snake(name)
        if Self.stems(of: list, last: 1).contains(where: { all == "\($0)_id" }), let id = find("id") { return id }
        if let found = find(name) { return found }
        // `{ingress_peer_id}` of `/ingress/peers` is the `id` of one, not the `peer_id` that it may have besides.
        if isWhole(all), let id = find("id") { return id }
        let own = Self.stems(of: list, last: 1).first ?? ""
        let stems = Self.stems(of: list, last: 2) + Self.tails(of: own)
        for word in all.split(separator: "_or_").map(String.init) + [all] {
            // `{customer}` may be its id or its name.
            guard let rest = Self.rest(of: word, stems) else {
                if let found = find(word) { return found }
                continue
            }
            if let found = find(rest) ?? find(word) { return found }
        }
        return withoutStem(all) ?? withStem(all)
    }

    /// Whether a name is made of the last two names of the list's path.
    private func isWhole(_ all: String) -> Bool {
        let inner = Self.stems(of: list, last: 1)
        let outer = Self.stems(of: list, last: 2).filter { !inner.contains($0) }
        return outer.contains { first in inner.contains { all == "\(first)_\($0)_id" } }
    }

    /// `{uuid}` of an order is its `order_uuid`.
    private func withStem(_ all: String) -> String? {
        isUUID ? Self.stems(of: list, last: 1).lazy.compactMap { find("\($0)_\(all)") }.first : nil
    }

    /// `{external_customer_id}` of a customer is its `external_id`; `{sku_file_id}` of a file below `{sku_id}` is not the `sku_id`
    /// that all files of a SKU have.
    private func withoutStem(_ all: String) -> String? {
        // `{order_payment_id}` of an order's payment is not the `order_id` that all payments of an order have.
        guard let own = Self.stems(of: list, last: 1).first, !all.hasPrefix("\(own)_") else { return nil }
        let above = Set(list.parameters.map(Words.folded))
        return Self.stems(of: list, last: 1).lazy.compactMap { stem -> String? in
            let rest = all.replacing("_\(stem)_", with: "_")
            return rest == all || above.contains(Words.folded(rest)) ? nil : find(rest)
        }.first
    }

    /// What names in a list are prefixed with: `order` for `/orders`.
    static func stems(of list: PathPattern, last count: Int) -> [String] {
        let words = Collection.base(of: list).filter { !$0.contains("{") }.suffix(count).map(Words.snake)
        return words.reversed().flatMap { word -> [String] in
            let singular = Words.singular(word)
            let short = singular.split(separator: "_").last.map { Words.singular(String($0)) }
            return [singular, word, short].compactMap(\.self)
        }
    }

    /// `bulk_order` of `card_bulk_order`.
    private static func tails(of stem: String) -> [String] {
        let words = stem.split(separator: "_")
        return words.indices.dropFirst().map { words[$0...].joined(separator: "_") }
    }

    private static func rest(of word: String, _ stems: [String]) -> String? {
        stems.lazy.compactMap { word.hasPrefix($0 + "_") ? String(word.dropFirst($0.count + 1)) : nil }.first
    }

    // MARK: Less direct

    private var synonym: String? {
        let all = Words.snake(name)
        let rest = Self.rest(of: all, Self.stems(of: list, last: 1))
        let names = [all, rest].compactMap(\.self).flatMap { Self.synonyms[$0] ?? [] }
        // `{tokenAccessor}` is the `AccessorID` of a token.
        let whole = find("id") == nil ? [rest, all].compactMap(\.self).map { $0 + "_id" } : []
        return (names + whole).lazy.compactMap(find).first
    }

    private var description: Set<String> {
        Set(Words.parts(of: said?.description ?? ""))
    }

    private var described: String? {
        let words = description
        guard words.isDisjoint(with: Self.idWords) else { return nil }
        return Self.nouns.lazy.filter(words.contains).compactMap { noun in
            find(noun) ?? Self.synonyms[noun]?.lazy.compactMap(find).first
        }.first
    }

    /// Whether it can only be the key: both are ids, or it is called like a record, and nothing is said against it.
    private func isName(of key: String) -> Bool {
        if isNumber, !isNumberMember(key) { return false }
        if isUUID, isInteger(key) { return false }
        let words = description
        let isOther = !words.isEmpty && words.isDisjoint(with: Self.idWords) && !words.contains(Words.lastWord(of: key))
        if Self.ends(name), Self.ends(key) { return true }
        if Words.folded(name).hasSuffix(Words.folded(key)) { return true }
        let stems = Self.stems(of: list, last: 1)
        guard stems.map(Words.folded).contains(where: Words.folded(name).hasSuffix) else { return false }
        return !isOther || stems.contains(where: words.contains) && words.isDisjoint(with: Self.nouns)
    }

    /// Whether a name ends as those of keys do.
    static func ends(_ name: String) -> Bool {
        let folded = Words.folded(name)
        return ["id", "uuid", "guid", "sid"].contains(where: folded.hasSuffix) || folded == "pk"
    }

    // MARK: Members

    /// A member of the record, or of its attributes as JSON:API has them; `id` rather than `@id`, if there are both.
    private func find(_ name: String) -> String? {
        find(name, in: item) ?? item["attributes"].flatMap { find(name, in: shapes.shape(of: $0)) }
    }

    private func find(_ name: String, in shape: DataShape) -> String? {
        let found = shape.properties.filter { property in
            guard Words.folded(property.name) == Words.folded(name) else { return false }
            let shape = shapes.shape(of: property)
            return shape.isTextOrNumber && !FieldNames.isSecret(shape, name: property.name)
        }.map(\.name)
        return found.first { $0 == name } ?? found.first
    }

    private var isNumber: Bool { said?.shape.kind == .integer }

    /// Whether its name says that its values are no numbers.
    private var isUUID: Bool { ["uuid", "guid"].contains(where: Words.folded(name).hasSuffix) }

    private func isInteger(_ member: String) -> Bool { item[member].map { shapes.shape(of: $0).kind } == .integer }

    private func isNumberMember(_ name: String) -> Bool {
        item[name].map { [.integer, .number, .unknown].contains(shapes.shape(of: $0).kind) } ?? false
    }
}
