/// One way in which the upstream says that something has changed: an element of `upstream.signals`.
///
/// A signal only says which record to read. What it says about the record itself is never stored.
package struct SignalSource: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case stream(SignalStream)
        case events(SignalEvents)
        case webhook(SignalWebhook)
    }

    package var kind: Kind
    package var reading: SignalReading

    /// `sse`, `events` or `webhook`, as in the schema.
    package var word: String {
        switch kind {
        case .stream: "sse"
        case .events: "events"
        case .webhook: "webhook"
        }
    }

    package var isWebhook: Bool { if case .webhook = kind { true } else { false } }

    package var path: String {
        switch kind {
        case .stream(let stream): stream.path
        case .events(let events): events.path
        case .webhook(let webhook): webhook.path
        }
    }

    /// `sse /api/realtime`: unique in a schema.
    package var name: String { "\(word) \(path)" }
}

/// An event stream to follow (WHATWG HTML, "Server-sent events").
package struct SignalStream: Sendable, Equatable {
    /// The call that asks for events once the stream is open.
    package struct Subscription: Sendable, Equatable {
        /// The event after which it is made; its data fills in the body.
        package var event: String
        package var method: String
        package var path: String
        package var body: SignalBody
    }

    package var path: String
    package var query: [QueryItem] = []
    /// The names of the events that are signals; nil for all.
    package var events: Set<String>?
    package var subscription: Subscription?
    /// A stream that is silent for longer is taken for dead.
    package var idle: Duration
}

/// A list of events to poll.
package struct SignalEvents: Sendable, Equatable {
    package var path: String
    package var query: [QueryItem] = []
    /// Where an answer has the events, and how it is paged.
    package var list: ListPlan
    /// How the next poll asks only for what is new; nil for what the list's paging says.
    package var since: Since?
    /// The statuses that answer an unknown or missing position with a new one.
    package var expired: [Int] = []
    package var every: Duration

    /// The greatest value that events had at a place goes into a parameter.
    package struct Since: Sendable, Equatable {
        package var parameter: String
        package var greatest: Place
    }
}

/// Calls that the upstream makes to this machine.
package struct SignalWebhook: Sendable, Equatable {
    package var path: String
    package var signature: Signature
    /// The parameter whose value is repeated in the answer to a GET, by which an upstream checks the address.
    package var challenge: String?

    package enum Algorithm: String, Sendable, Equatable, CaseIterable {
        case sha256, sha512
        /// The header has the secret itself.
        case token
    }

    package enum Format: String, Sendable, Equatable, CaseIterable { case hex, base64 }

    /// How a call proves that it comes from the upstream.
    package struct Signature: Sendable, Equatable {
        package var header: String
        package var algorithm: Algorithm
        package var format: Format
        /// Before the signature in the header.
        package var prefix: String
        /// What is signed, with `$body`, `$timestamp` and `$header.NAME`.
        package var over: ValueTemplate
        package var time: Time?
    }

    /// When the call was signed: an old one is a repetition.
    package struct Time: Sendable, Equatable {
        package var header: String
        package var prefix: String
        package var tolerance: Duration
    }
}
