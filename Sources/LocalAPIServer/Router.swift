internal import EntitySchema
internal import LocalAPI
internal import SocketServer

/// Finds the routes of a path. Built once from the route table; a request costs one lookup for each segment.
final class Router: Sendable {
    /// The routes of one path, and its id.
    struct Match {
        let place: Place
        /// The segment in the place of `{id}` or `{entity}`, or empty.
        var id = ""
    }

    private let root: Place
    private let labels: RouteLabels
    private let openPaths: Set<String>
    /// In bytes: most paths are longer than any that is open, and need not be looked up.
    private let longestOpenPath: Int

    init(_ table: RouteTable, _ schema: EntitySchema) {
        let labels = RouteLabels(table.routes.map(\.template), entities: schema.entities.map(\.name))
        self.labels = labels
        let open = table.routes.filter { $0.access == .anyone }.map(\.path)
        openPaths = Set(open)
        longestOpenPath = open.map(\.utf8.count).max() ?? 0
        root = Place(table.routes.map { (segments: $0.segments[...], route: $0) }, labels)
    }

    /// Whether unknown callers may call the path.
    func isOpen(_ path: String) -> Bool { path.utf8.count <= longestOpenPath && openPaths.contains(path) }

    /// `segments` of the path, decoded. Nil if there is no route.
    func match(_ segments: [String]) -> Match? { root.match(segments, from: 0) }

    /// The metric label of a path without a route.
    func label(of segments: [String]) -> String { labels.label(of: segments) }
}

extension Router {
    /// One segment of the paths, with the segments that can follow it.
    final class Place: Sendable {
        /// The metric label; empty without a route.
        let label: String
        /// The entity whose schema decides the methods, if one does.
        let entity: String?
        /// For `Allow`.
        let methods: [String]
        private let routes: [HeldRoute]
        private let named: [String: Place]
        private let byID: Place?

        fileprivate init(_ below: [(segments: ArraySlice<String>, route: Route)], _ labels: RouteLabels) {
            let routes = below.filter(\.segments.isEmpty).map(\.route)
            self.routes = routes.map(HeldRoute.init)
            methods = routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] }
            entity = routes.first?.entity
            // A relation may be named like a call of another path; its label then has that name.
            label =
                routes.first.map { $0.template == .related ? labels.label(of: $0.segments) : $0.template.text } ?? ""
            var next: [String: [(segments: ArraySlice<String>, route: Route)]] = [:]
            for (segments, route) in below {
                guard let name = segments.first else { continue }
                next[name, default: []].append((segments.dropFirst(), route))
            }
            let variable = next.keys.first { $0.hasPrefix("{") }
            byID = variable.flatMap { next.removeValue(forKey: $0) }.map { Place($0, labels) }
            named = next.mapValues { Place($0, labels) }
        }

        /// HEAD is answered as GET; the server omits the body.
        func route(for method: String) -> HeldRoute? {
            let method = method == "HEAD" ? "GET" : method
            return routes.first { $0.route.method == method }
        }

        /// The answer to OPTIONS (RFC 9110, 9.3.7).
        var options: Response {
            var headers = [("Allow", (methods + ["OPTIONS"]).joined(separator: ", "))]
            if methods.contains("PATCH") {
                headers.append(("Accept-Patch", entity == nil ? PatchFormat.json : PatchFormat.ofRecords))
            }
            if let post = route(for: "POST"), post.route.shape.takesBody {
                headers.append(("Accept-Post", PatchFormat.json))
            }
            return Response(status: 204, headers: headers)
        }

        /// Why it takes no such method. The schema is the reason only where another schema could have the method.
        func refusal(of method: String) -> Problem {
            let verbs = ["POST": "create", "PATCH": "update", "PUT": "replace", "DELETE": "delete"]
            guard let route = routes.first?.route, let entity, let verb = verbs[method] else {
                return .methodNotAllowed(methods)
            }
            switch (route.template, method == "POST") {
            case (.records, false) where byID?.route(for: method) != nil:
                return .methodNotAllowed(methods, because: "\(method) needs the id of a record: \(route.path)/{id}")
            case (.records, _), (.record, false):
                return .methodNotAllowed(methods, because: "the schema cannot \(verb) records of \(entity)")
            default: return .methodNotAllowed(methods)
            }
        }

        /// Tries a name before an id.
        fileprivate func match(_ segments: [String], from index: Int) -> Match? {
            guard index < segments.count else { return routes.isEmpty ? nil : Match(place: self) }
            if !named.isEmpty, let match = named[segments[index]]?.match(segments, from: index + 1) { return match }
            // Nothing has an empty id.
            guard !segments[index].isEmpty, var match = byID?.match(segments, from: index + 1) else { return nil }
            match.id = segments[index]
            return match
        }
    }
}
