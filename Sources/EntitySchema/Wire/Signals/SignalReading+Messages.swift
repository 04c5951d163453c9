package import JSONText

extension SignalReading {
    /// More records of one entity than a message may name are one signal of the entity.
    private static let most = 1000

    /// What a message says has changed. An element that names no entity of the schema is nil.
    package func signals(in message: JSONText, event: String? = nil) -> [Signal?] {
        guard let reported = records.value(in: message) else { return [signal(in: message, event: event)] }
        guard reported.kind == .array else { return [signal(in: reported, event: event)] }
        let elements = reported.elements
        var signals = elements.prefix(Self.most).map { signal(in: $0, event: event) }
        if elements.count > Self.most { signals += entities.sorted().map { Signal(entity: $0) } }
        return signals
    }

    private func signal(in element: JSONText, event: String?) -> Signal? {
        let name: String?
        switch entity {
        case .fixed(let entity): name = entity
        case .event: name = event.flatMap { names[$0] }
        case .member(let place): name = place.value(in: element).flatMap { names[$0.plain] }
        }
        guard let name else { return nil }
        let key = key?.value(in: element).flatMap { $0.kind == .string || $0.kind == .number ? $0.plain : nil }
        return Signal(entity: name, key: key.flatMap { $0.isEmpty ? nil : $0 })
    }
}
