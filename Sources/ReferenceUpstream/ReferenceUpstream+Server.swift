package import SocketServer

extension ReferenceUpstream {
    /// A server of this upstream at the address, with room for its largest contents and for lists of any length. Web pages
    /// are refused.
    ///
    /// With a `lookup`, strangers may only read. Without one, all callers are equal.
    package func server(at listener: Listener, lookup: Caller.Lookup? = nil) -> SocketServer {
        var limits = ServerLimits()
        limits.shutdown = .seconds(2)
        limits.bodyBytes = max(limits.bodyBytes, largestBody)
        limits.allBodiesBytes = max(limits.allBodiesBytes, 4 * limits.bodyBytes)
        limits.allUnsentBytes = .max
        let pages = PageGuard(isLocal: Self.isLocal(listener), tellsCallersApart: lookup != nil)
        return SocketServer(
            listeners: [listener], limits: limits,
            handler: { [self] request in
                guard let refusal = pages.refusal(of: request) else { return await respond(to: request) }
                return Answer.refusal(refusal, handler.envelope).response
            }, lookup: lookup)
    }

    private static func isLocal(_ listener: Listener) -> Bool {
        guard case .tcp(let host, _) = listener else { return false }
        return host.hasPrefix("127.") || host == "::1"
    }
}
