package import JSONText

/// Values of other records in the paths of requests: in `/orders/{device.order_id}/devices/{device_id}/parts`,
/// `device.order_id` is the `order_id` of the record that the relation `device` leads to.
extension Entity {
    /// Nil for a name without a dot, and for a relation that leads to more than one record or to none.
    package func far(_ name: String) -> (reference: String, entity: String, field: String)? {
        let names = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2, let relation = self[relation: names[0]], case .one(let field) = relation.kind else {
            return nil
        }
        return (field, relation.entity, names[1])
    }

    /// Those in the paths of its pushes and content.
    var farNamesInPaths: [String] {
        let routes = push.routes + [content?.upload, content?.delete].compactMap(\.self)
        var paths = routes.map(\.path) + [content?.path].compactMap(\.self)
        for route in routes {
            if case .match(_, let path?, _) = route.lookUp { paths.append(path) }
        }
        var seen: Set<String> = []
        return paths.flatMap(\.placeholders).filter { $0.contains(".") && seen.insert($0).inserted }
    }

    /// Where the content of a record is on the server: an address, or a path below the upstream's. Nil when the record
    /// lacks it.
    package func contentAddress(of record: JSONText) -> String? {
        if let field = content?.address { return value(of: field, in: record)?.string }
        return content?.path.flatMap { path($0, of: record) }
    }
}
