internal import EntitySchema
internal import LocalAPI

/// Finds the routes at an address. It is built once, from the route table: a request looks up one name for each segment.
final class Router: Sendable {
    /// What answers at one address: a route for each method it takes.
    struct Match {
        let place: Place
        /// What stands in the place of `{id}`; empty where the address has none.
        var id = ""
    }

    private let root: Place
    private let labels: RouteLabels
    private let openPaths: [String]

    init(_ table: RouteTable, _ schema: EntitySchema) {
        let labels = RouteLabels(table.routes.map(\.template), entities: schema.entities.map(\.name))
        self.labels = labels
        openPaths = table.routes.filter { $0.access == .anyone }.map(\.path)
        root = Place(table.routes.map { (segments: $0.segments[...], route: $0) }, labels)
    }

    /// Whether callers that are not known may call the path.
    func isOpen(_ path: String) -> Bool { openPaths.contains(path) }

    /// `segments`: the path's, decoded.
    func match(_ segments: [String]) -> Match? { root.match(segments, from: 0) }

    /// The metric label of an address where nothing is.
    func label(of segments: [String]) -> String { labels.label(of: segments) }
}

extension Router {
    /// One segment of the addresses, with those that may follow it.
    final class Place: Sendable {
        /// The metric label; empty where no route is.
        let label: String
        /// The entity whose schema leaves methods out, if one does.
        let entity: String?
        /// For `Allow`.
        let methods: [String]
        private let routes: [Route]
        private let named: [String: Place]
        private let byID: Place?

        fileprivate init(_ below: [(segments: ArraySlice<String>, route: Route)], _ labels: RouteLabels) {
            routes = below.filter(\.segments.isEmpty).map(\.route)
            methods = routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] }
            entity = routes.first?.entity
            // A relation may have the name of a call elsewhere, which its label then has too.
            label =
                routes.first.map { $0.template == .related ? labels.label(of: $0.segments) : $0.template.text } ?? ""
            var next: [String: [(segments: ArraySlice<String>, route: Route)]] = [:]
            for (segments, route) in below {
                guard let name = segments.first else { continue }
                next[name, default: []].append((segments.dropFirst(), route))
            }
            byID = next.removeValue(forKey: "{id}").map { Place($0, labels) }
            named = next.mapValues { Place($0, labels) }
        }

        /// HEAD is GET whose body the server leaves out.
        func route(for method: String) -> Route? {
            let method = method == "HEAD" ? "GET" : method
            return routes.first { $0.method == method }
        }

        /// A name goes before an id.
        fileprivate func match(_ segments: [String], from index: Int) -> Match? {
            guard index < segments.count else { return routes.isEmpty ? nil : Match(place: self) }
            if !named.isEmpty, let match = named[segments[index]]?.match(segments, from: index + 1) { return match }
            guard var match = byID?.match(segments, from: index + 1) else { return nil }
            match.id = segments[index]
            return match
        }
    }
}
