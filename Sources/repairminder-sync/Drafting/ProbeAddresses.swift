import EntitySchema

/// Addresses of lists of one API: what they begin with, and the paths of the lists.
struct ProbeAddresses {
    let addresses: [String]

    init(_ addresses: [String]) { self.addresses = addresses }

    /// Without segments in common the address is only the host. The last segment of each is its list's.
    func split() throws(CommandFailure) -> (address: String, paths: [String]) {
        var origin: String?
        var paths: [[Substring]] = []
        var queries: [String] = []
        for address in addresses {
            guard address.hasPrefix("https://") || address.hasPrefix("http://"), !PlainHTTP.leavesMachine(address)
            else {
                throw CommandFailure(
                    .usage, "\(address) cannot be probed; expected an address that begins with https://")
            }
            let scheme = address.hasPrefix("https://") ? "https://" : "http://"
            let rest = address.dropFirst(scheme.count)
            let host = rest.prefix { !"/?#".contains($0) }
            guard !host.isEmpty, !host.contains("@"), origin == nil || origin == scheme + host else {
                throw CommandFailure(.usage, "\(address): expected lists of one host, without a user in the address")
            }
            origin = scheme + host
            let path = rest.dropFirst(host.count).prefix { $0 != "?" && $0 != "#" }
            let segments = path.split(separator: "/")
            guard !segments.isEmpty else {
                throw CommandFailure(
                    .usage, "\(address) names no list; expected one such as \(scheme)\(host)/orders")
            }
            paths.append(segments)
            let query = rest.dropFirst(host.count).drop { $0 != "?" }.prefix { $0 != "#" }
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
}
