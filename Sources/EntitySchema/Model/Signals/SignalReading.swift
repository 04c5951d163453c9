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
    package var entities: Set<String> {
        if case .fixed(let name) = entity { [name] } else { Set(names.values) }
    }
}

/// What to read because of a message: one record, or an entity when the key is not known.
package struct Signal: Sendable, Hashable {
    package var entity: String
    package var key: String?

    package init(entity: String, key: String? = nil) {
        self.entity = entity
        self.key = key
    }
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
