/// What an entity's window includes that a pull with another one did not bring.
package enum WindowChange: Sendable, Equatable {
    /// Nothing: it is the same window.
    case none
    /// Nothing: it is narrower.
    case narrowed
    /// What the upstream lists up to here: the value of `{$until}`.
    case widened(until: String)
    /// What only the whole list shows.
    case other

    /// The value of `{$until}`; nil unless a pull has to send it.
    package var until: String? { if case .widened(let until) = self { until } else { nil } }

    /// What the next pull reads, in words.
    package var reads: String {
        switch self {
        case .none, .narrowed: "only what changed"
        case .widened(let until): "what is new up to \(until)"
        case .other: "the whole list"
        }
    }
}
