internal import SocketServer

/// Whether a read may or must ask the upstream: `refresh=`, and `Cache-Control: only-if-cached` (RFC 9111, 5.2.1.7).
enum Freshness {
    /// The upstream is asked only for what is not cached.
    case cachedFirst
    /// The upstream is asked first.
    case upstreamFirst
    /// The upstream is never asked.
    case cachedOnly

    init(_ parameters: QueryParameters, _ request: Request) throws(Problem) {
        switch try parameters.optionalFlag("refresh") {
        case nil: self = .cachedFirst
        case false: self = .cachedOnly
        case true:
            guard !Self.isOnlyIfCached(request) else {
                throw .parameter(
                    "refresh", "Cache-Control: only-if-cached forbids to ask the upstream; leave one of them out",
                    .conflictingParameters)
            }
            self = .upstreamFirst
        }
    }

    static func isOnlyIfCached(_ request: Request) -> Bool {
        request.headers[all: "Cache-Control"].contains { field in
            field.split(separator: ",").contains { directive in
                directive.lowercased().filter { $0 != " " && $0 != "\t" } == "only-if-cached"
            }
        }
    }
}
