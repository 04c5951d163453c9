import EntitySchema

/// Addresses of lists of one API: what they begin with, and the paths of the lists. Or the one in front of a document's paths.
struct ProbeAddresses {
    let addresses: [String]

    init(_ addresses: [String]) { self.addresses = addresses }

    /// Without segments in common the address is only the host. The last segment of each is its list's.
    func split() throws(CommandFailure) -> (address: String, paths: [String]) {
        var origin: String?
        var paths: [[Substring]] = []
        var queries: [String] = []
        for address in addresses {
            let (own, rest) = try Self.parts(of: address)
            guard origin == nil || origin == own else {
                throw CommandFailure(.usage, "\(address): expected lists of one host")
            }
            origin = own
            let path = rest.prefix { $0 != "?" && $0 != "#" }
            let segments = path.split(separator: "/")
            guard !segments.isEmpty else {
                throw CommandFailure(.usage, "\(address) names no list; expected one such as \(own)/orders")
            }
            paths.append(segments)
            let query = rest.drop { $0 != "?" }.prefix { $0 != "#" }
            queries.append((path.hasSuffix("/") ? "/" : "") + String(query))
        }
        let common = paths.dropFirst().reduce(paths[0].dropLast()) { common, path in
            common.prefix(zip(common, path.dropLast()).prefix { $0 == $1 }.count)
        }
        let prefix = common.map { "/\($0)" }.joined()
        let below = zip(paths, queries).map { path, query in
            path.dropFirst(common.count).map { "/\($0)" }.joined() + query
        }
        return ((origin ?? "") + prefix, below)
    }

    /// The address in front of all paths of a document, without a slash at its end.
    func base() throws(CommandFailure) -> String {
        let (origin, rest) = try Self.parts(of: addresses[0])
        guard addresses.count == 1, !rest.contains("?"), !rest.contains("#") else {
            throw CommandFailure(
                .usage,
                "with --from, --probe takes one address: the one in front of the document's paths, such as \(origin)/api"
            )
        }
        return origin + rest.split(separator: "/").map { "/\($0)" }.joined()
    }

    /// `https://host:port`, and what follows it.
    private static func parts(of address: String) throws(CommandFailure) -> (origin: String, rest: Substring) {
        guard address.hasPrefix("https://") || address.hasPrefix("http://"), !PlainHTTP.leavesMachine(address) else {
            throw CommandFailure(
                .usage,
                "\(address) cannot be probed; expected an address that begins with https://, or with http:// on this "
                    + "machine")
        }
        let scheme = address.hasPrefix("https://") ? "https://" : "http://"
        let rest = address.dropFirst(scheme.count)
        let host = rest.prefix { !"/?#".contains($0) }
        guard !host.isEmpty, !host.contains("@") else {
            throw CommandFailure(.usage, "\(address): expected an address with a host and without a user")
        }
        return (scheme + host, rest.dropFirst(host.count))
    }
}
