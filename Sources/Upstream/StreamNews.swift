package import JSONText

/// What happens on an event stream.
package enum StreamNews: Sendable, Equatable {
    /// From now on events arrive; those of before may have been missed.
    case opened
    case event(StreamEvent)
    /// How long the upstream wants callers to wait before they reconnect.
    case retry(Duration)
}

/// One event of a stream.
package struct StreamEvent: Sendable, Equatable {
    package var name: String
    /// A JSON string if it is no JSON; nil if it was too large to be kept.
    package var data: JSONText?
    /// The last id that the stream gave; empty if it gave none.
    package var id: String

    package init(name: String, data: JSONText?, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// Why an event stream that was open is so no longer.
package enum StreamEnd: Sendable, Equatable {
    /// The upstream closed it.
    case closed
    /// There is another token: a stream keeps the rights of the token that it was opened with.
    case tokenChanged
}
