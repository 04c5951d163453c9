/// Finds the list of records in the shape of an answer.
struct ListFinder {
    let shapes: ShapeReader

    enum Finding: Sendable {
        case list(ListAnswer)
        /// It has lists of objects and is none: the reason.
        case other(String)
        /// There are no objects in lists.
        case nothing
    }

    /// Envelopes are no deeper.
    private static let deepest = 3

    /// Members that hold the records in many APIs.
    private static let usual: Set = [
        "data", "items", "results", "result", "records", "entries", "value", "values", "list", "content", "elements",
        "rows", "objects", "resources", "hits", "docs", "nodes", "collection", "members", "entities",
    ]
    /// Members that hold something about the answer.
    private static let beside: Set = [
        "links", "errors", "error", "warnings", "meta", "included", "aggregations", "facets", "messages", "filters",
        "sort", "sorting", "pagination", "paging", "pageinfo",
    ]

    private struct Candidate {
        var names: [String]
        var item: DataShape
        var rank: Int
    }

    /// `path`: that of the call, whose last name is often the list's.
    func find(in answer: DataShape, of path: PathPattern) -> Finding {
        if answer.isList {
            let item = shapes.elements(of: answer)
            return item.kind == .object ? .list(list([], item, answer)) : .nothing
        }
        var candidates: [Candidate] = []
        collect(answer, [], Words.folded(Collection.base(of: path).last ?? ""), &candidates, depth: 0)
        guard let best = candidates.min(by: { ($0.rank, $0.names.count) < ($1.rank, $1.names.count) }) else {
            return .nothing
        }
        if best.rank > 3 {
            return .other("it answers only \(best.names.joined(separator: ".")), which are about the answer")
        }
        if isCounted(best, in: answer) {
            return .other("it answers one record, which contains \(best.names.joined(separator: "."))")
        }
        let isDoubtful = best.rank > 0 || isInPart(best.names, of: path)
        if isDoubtful, containers(of: best, in: answer).contains(where: { isRecord($0, of: path) }) {
            return .other("it answers one record, which contains \(best.names.joined(separator: "."))")
        }
        if best.rank > 1, let reason = Singleton(shapes: shapes, path: path).reason(answer, best.names) {
            return .other(reason)
        }
        // Of lists that nothing names, one with larger records further inside is as likely.
        let rivals = candidates.filter { other in
            other.rank == best.rank
                && (other.names.count == best.names.count
                    || best.rank > 1 && other.item.properties.count > best.item.properties.count)
        }
        if rivals.count > 1 {
            let names = rivals.map { $0.names.joined(separator: ".") }.prefix(4).joined(separator: ", ")
            return .other("it answers several lists (\(names)), of which none is the list of the path")
        }
        if best.rank > 0, let grouped = grouped(best, of: path, answer) { return .list(grouped) }
        return .list(list(best.names, best.item, answer))
    }

    /// Whether a list is a member of a record, as OData has it: beside its own count, `Lines@odata.count`.
    private func isCounted(_ candidate: Candidate, in answer: DataShape) -> Bool {
        guard let name = candidate.names.last else { return false }
        return containers(of: candidate, in: answer).contains { $0["\(name)@odata.count"] != nil }
    }

    /// The answer, and the member around a list that is in a part of it: `{"user": {"id": 5, "roles": […]}}`.
    private func containers(of best: Candidate, in answer: DataShape) -> [DataShape] {
        guard best.names.count > 1, let outer = best.names.first.flatMap({ answer[$0] }) else { return [answer] }
        return [answer, shapes.shape(of: outer)]
    }

    private func isRecord(_ shape: DataShape, of path: PathPattern) -> Bool {
        KeyGuess.hasOwnKey(shape, of: path, shapes) || texts(shape) > 3
    }

    /// The list of the path, where it comes in groups: `/categories` with `{"category_groups": [{"categories": […]}]}`.
    private func grouped(_ best: Candidate, of path: PathPattern, _ answer: DataShape) -> ListAnswer? {
        let name = Words.folded(Collection.base(of: path).last ?? "")
        guard let inner = best.item.properties.first(where: { Words.folded($0.name) == name }) else { return nil }
        let shape = shapes.shape(of: inner)
        guard shape.isList, shapes.elements(of: shape).kind == .object else { return nil }
        return ListAnswer(
            names: best.names + ["*", inner.name], wrapper: nil, item: shapes.elements(of: shape), answer: answer)
    }

    /// Whether a list is in a member that is neither an envelope nor called like the path: `drive.items` of a user at `/me`.
    private func isInPart(_ names: [String], of path: PathPattern) -> Bool {
        guard names.count > 1, let outer = names.first.map(Words.folded) else { return false }
        return rank(outer, Words.folded(Collection.base(of: path).last ?? "")) > 0
    }

    /// How many texts stand beside the lists that say something of a record, rather than of the answer.
    private func texts(_ answer: DataShape) -> Int {
        let about = [
            "next", "prev", "page", "link", "url", "href", "token", "cursor", "kind", "etag", "version", "message",
        ]
        return answer.properties.count { property in
            let name = Words.folded(property.name)
            return shapes.shape(of: property).kind == .string && !about.contains(where: name.contains)
        }
    }

    private func list(_ names: [String], _ item: DataShape, _ answer: DataShape) -> ListAnswer {
        if item.properties.count == 1, let only = item.properties.first, !KeyGuess.isKeyName(only.name) {
            let inner = shapes.shape(of: only)
            if inner.kind == .object, !inner.properties.isEmpty {
                return ListAnswer(names: names, wrapper: only.name, item: inner, answer: answer)
            }
        }
        return ListAnswer(names: names, wrapper: nil, item: item, answer: answer)
    }

    private func collect(
        _ shape: DataShape, _ names: [String], _ path: String, _ found: inout [Candidate], depth: Int
    ) {
        guard shape.kind == .object, depth < Self.deepest, found.count < 50 else { return }
        for property in shape.properties.prefix(60) {
            let inner = shapes.shape(of: property)
            let name = Words.folded(property.name)
            if inner.isList {
                let item = shapes.elements(of: inner)
                guard item.kind == .object else { continue }
                found.append(Candidate(names: names + [property.name], item: item, rank: rank(name, path)))
            } else if inner.kind == .object, !Self.beside.contains(name) {
                collect(inner, names + [property.name], path, &found, depth: depth + 1)
            }
        }
    }

    /// The less, the likelier.
    private func rank(_ name: String, _ path: String) -> Int {
        if name == path || Words.singular(name) == Words.singular(path) { return 0 }
        if Self.beside.contains(name) { return 4 }
        if Self.usual.contains(name) { return 0 }
        let stem = Words.singular(name)
        if path.hasSuffix(stem) || path.hasSuffix(name) || name.hasSuffix(Words.singular(path)) { return 1 }
        return 2
    }
}

/// Where the answer of a call has a list of objects.
struct ListAnswer: Sendable {
    /// Names of members from the answer to the list; empty for the answer itself.
    var names: [String]
    /// The member of each element that is the record itself, as `entry` in `{"entry": {…}}`.
    var wrapper: String?
    /// A record.
    var item: DataShape
    /// The whole answer.
    var answer: DataShape

    /// In the notation of a schema; nil for names that cannot stand there.
    var place: String? { PlaceText.joined(names + (wrapper.map { ["*", $0] } ?? [])) }
}
