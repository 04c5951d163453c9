internal import EntitySchema
internal import JSONText

/// Writes what a source of signals says about a change, with everything in the places that the schema names.
struct SignalMessage {
    let source: SignalSource
    let change: SignalFeed.Change

    /// What the upstream calls the entity.
    private var name: String {
        let names = source.reading.names.filter { $0.value == change.entity }.keys.sorted()
        return names.first { $0 != change.entity } ?? change.entity
    }

    /// The name of the event.
    var event: String {
        if case .event = source.reading.entity { return name }
        guard case .stream(let stream) = source.kind else { return "message" }
        return stream.events?.min() ?? "message"
    }

    /// The change without what is around it.
    var element: JSONText {
        var element = JSONText.object([:])
        if case .member(let place) = source.reading.entity { element = element.putting(.string(name), at: place) }
        if let key = source.reading.key { element = element.putting(change.key, at: key) }
        return element
    }

    var body: JSONText {
        let records = source.reading.records
        return records == .itself ? element : JSONText.object([:]).putting(.array([element]), at: records)
    }
}

extension JSONText {
    /// An object with a value at a place.
    func putting(_ value: JSONText, at place: Place) -> JSONText {
        putting(value, at: (place.paths.first ?? "").split(separator: ".").map(String.init)[...])
    }

    private func putting(_ value: JSONText, at path: ArraySlice<String>) -> JSONText {
        guard let name = path.first else { return value }
        return setting(name, to: (self[name] ?? .object([:])).putting(value, at: path.dropFirst()))
    }
}
