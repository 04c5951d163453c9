package import SocketServer

extension ReferenceUpstream {
    /// A server of this upstream at the address, with room for its largest contents.
    package func server(at listener: Listener) -> SocketServer {
        var limits = ServerLimits()
        limits.shutdown = .seconds(2)
        limits.bodyBytes = max(limits.bodyBytes, largestBody)
        limits.allBodiesBytes = max(limits.allBodiesBytes, 4 * limits.bodyBytes)
        return SocketServer(listeners: [listener], limits: limits) { [self] request in await respond(to: request) }
    }
}
