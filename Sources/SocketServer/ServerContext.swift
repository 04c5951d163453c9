/// What all connections of a server share.
final class ServerContext: Sendable {
    let limits: ServerLimits
    let loops: [EventLoop]
    let writer = ResponseWriter(date: HTTPDate())
    let handler: @Sendable (Request) async -> Response
    /// Nil where all callers are alike.
    let lookup: Caller.Lookup?
    let places: ConnectionLimiter
    let streams: StreamRule

    init(
        limits: ServerLimits, loops: [EventLoop], lookup: Caller.Lookup?,
        streams: @escaping StreamRule, handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.limits = limits
        self.loops = loops
        self.lookup = lookup
        places = ConnectionLimiter(limits: limits, tellsCallersApart: lookup != nil)
        self.streams = streams
        self.handler = handler
    }
}
