/// Reads `upstream.signals`: a list of sources. Runs after the entities, whose names the sources use.
struct SignalReader {
    /// Nil without signals.
    let node: SchemaNode?
    let entities: [Entity]

    private static let kinds = ["sse", "events", "webhook"]

    func sources() throws(SchemaError) -> [SignalSource] {
        guard let node else { return [] }
        var sources: [SignalSource] = []
        for element in try node.oneOrMore() {
            let source = try source(element)
            guard !sources.contains(where: { $0.name == source.name }) else {
                throw element.error("\(source.name) is there twice; remove one")
            }
            sources.append(source)
        }
        guard !sources.isEmpty else { throw node.error("expected a list of \(Self.kinds.joined(separator: ", "))") }
        return sources
    }

    private func source(_ node: SchemaNode) throws(SchemaError) -> SignalSource {
        try node.requireKeys(Self.kinds)
        guard let (kind, inner) = try node.members().first, try node.members().count == 1 else {
            throw node.error("expected one of \(Self.kinds.joined(separator: ", "))")
        }
        let reading = try reading(inner)
        if kind != "sse", reading.entity == .event, let at = inner.child("entity")?.child("at") {
            throw at.error("only events of a stream (sse) have names; expected the place of the entity in a message")
        }
        switch kind {
        case "sse": return SignalSource(kind: .stream(try stream(inner)), reading: reading)
        case "events":
            var reading = reading
            // Here `records` says where a page has its events.
            reading.records = .itself
            return SignalSource(kind: .events(try EventListReader(node: inner).events()), reading: reading)
        default: return SignalSource(kind: .webhook(try WebhookReader(node: inner).webhook()), reading: reading)
        }
    }

    /// The keys that each kind of source has.
    static let readingKeys = ["records", "entity", "key"]

    private func reading(_ node: SchemaNode) throws(SchemaError) -> SignalReading {
        let entity = try node.required("entity")
        var reading = SignalReading(
            records: try node.child("records")?.place() ?? .itself, entity: .event, names: [:],
            key: try node.child("key")?.place())
        guard entity.isMapping else {
            reading.entity = .fixed(try known(entity))
            return reading
        }
        try entity.requireKeys(["at", "names"])
        let at = try entity.required("at")
        reading.entity = at.value.text == "$event" ? .event : .member(try at.place())
        reading.names = Dictionary(pulled.map { ($0, $0) }) { first, _ in first }
        for (name, node) in try entity.child("names")?.members() ?? [] { reading.names[name] = try known(node) }
        return reading
    }

    private func known(_ node: SchemaNode) throws(SchemaError) -> String {
        let name = try node.string()
        guard entities.contains(where: { $0.name == name }) else {
            throw node.error("there is no entity \(name)\(Suggestion.hint(for: name, among: pulled))")
        }
        guard pulled.contains(name) else {
            throw node.error("\(name) is never pulled, so a signal of it has no effect; expected another entity")
        }
        return name
    }

    /// Entities with a list of their own, and those that come with their parents.
    private var pulled: [String] {
        entities.filter { entity in
            entity.pull != nil
                || entities.contains { $0.pull?.details.contains { $0.entity == entity.name } ?? false }
        }.map(\.name)
    }

    // MARK: Streams

    private func stream(_ node: SchemaNode) throws(SchemaError) -> SignalStream {
        try node.requireKeys(["path", "query", "events", "subscribe", "idle"] + Self.readingKeys)
        var events: Set<String>?
        if let node = node.child("events"), node.value.text != "any" {
            events = Set(try node.texts())
        }
        var idle = Duration.seconds(360)
        if let node = node.child("idle") {
            idle = try node.duration()
            guard idle >= .seconds(5), idle <= .seconds(86_400) else { throw node.error("expected 5s to 24h") }
        }
        return SignalStream(
            path: try node.required("path").fixedPath(), query: try Self.query(node.child("query")), events: events,
            subscription: try subscription(node.child("subscribe")), idle: idle)
    }

    static func query(_ node: SchemaNode?) throws(SchemaError) -> [QueryItem] {
        var items: [QueryItem] = []
        for (name, value) in try node?.members() ?? [] {
            items.append(QueryItem(name: name, value: try value.fixedText()))
        }
        return items
    }

    private func subscription(_ node: SchemaNode?) throws(SchemaError) -> SignalStream.Subscription? {
        guard let node else { return nil }
        try node.requireKeys(["on", "call", "body"])
        let call = try node.required("call")
        let words = try call.string().split(separator: " ").map(String.init)
        guard words.count == 2, ["POST", "PUT", "PATCH"].contains(words[0]), words[1].hasPrefix("/") else {
            throw call.error("expected a method and a path, such as POST /api/realtime")
        }
        try call.refuseTemplate(in: words[1])
        return SignalStream.Subscription(
            event: try node.required("on").string(), method: words[0], path: words[1],
            body: try SignalBodyReader(node: node.required("body")).body())
    }
}
