package import JSONText

/// Where a message of the upstream says which record has changed.
package struct SignalReading: Sendable, Equatable {
    package enum EntityName: Sendable, Equatable {
        case fixed(String)
        /// The name of the event.
        case event
        case member(Place)
    }

    /// Where a message has what it reports: a list, or one object.
    package var records: Place
    package var entity: EntityName
    /// What the upstream calls the entities → their names here.
    package var names: [String: String]
    /// The record's key; nil if messages say only which entity has changed.
    package var key: Place?

    /// Every entity that a message can name.
    package var entities: Set<String> { if case .fixed(let name) = entity { [name] } else { Set(names.values) } }
}

/// What to read because of a message: one record, or an entity when the key is not known.
package struct Signal: Sendable, Hashable {
    package let entity: String
    private let exactKey: ExactText?

    package init(entity: String, key: String? = nil) {
        self.entity = entity
        exactKey = key?.exact
    }

    package var key: String? { exactKey?.text }
}

/// A JSON body with values of an event: `{ clientId: "{$event.clientId}", subscriptions: ["orders/*"] }`.
package indirect enum SignalBody: Sendable, Equatable {
    case constant(JSONText)
    case text(ValueTemplate)
    case object([Member])
    case list([SignalBody])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: SignalBody
    }
}

extension SignalReading {
    /// More records of one entity than a message may name are one signal of the entity.
    private static let most = 1000
    /// No record has a longer key, in bytes. Signals wait in memory, so a longer one is a signal of the entity.
    private static let longestKey = 500

    /// What a message says has changed. An element that names no entity of the schema is nil.
    package func signals(in message: JSONText, event: String?) -> [Signal?] {
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
        case .event: name = event.flatMap(known)
        case .member(let place): name = place.value(in: element).flatMap { known($0.plain) }
        }
        guard let name else { return nil }
        let key = key?.value(in: element).flatMap(Entity.key)
        return Signal(entity: name, key: key.flatMap { $0.utf8.count > Self.longestKey ? nil : $0 })
    }

    /// A text that would take long to look for is no name (`MarkRun`).
    private func known(_ name: String) -> String? { MarkRun.areShort(in: name) ? names[name] : nil }
}
