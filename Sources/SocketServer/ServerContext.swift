import Synchronization

/// What all connections of a server share.
final class ServerContext: Sendable {
    let limits: ServerLimits
    let loops: [EventLoop]
    let writer = ResponseWriter(date: HTTPDate())
    let handler: @Sendable (Request) async -> Response
    /// Connections open now.
    let open = Atomic<Int>(0)

    init(limits: ServerLimits, loops: [EventLoop], handler: @escaping @Sendable (Request) async -> Response) {
        self.limits = limits
        self.loops = loops
        self.handler = handler
    }
}
