internal import CacheStore
internal import EntitySchema

/// The query of a list: every item that is not a parameter of lists is a filter.
extension QueryParameters {
    /// As far as it can be read; `mistakes` gets all that it finds.
    func listQuery(of entity: Entity, as format: ListFormat, _ mistakes: inout Mistakes) -> ListQuery {
        var query = ListQuery(entity: entity.name)
        query.limit = mistakes.collect(50) { () throws(Problem) in
            format.isWhole
                ? try integer("limit", in: 1...Int.max, else: Int.max)
                : try integer("limit", in: 1...1000, else: 50)
        }
        query.cursor = mistakes.collect(nil, try value("cursor"))
        query.count = mistakes.collect(false, try flag("count"))
        query.labels = mistakes.collect(false, try flag("labels"))
        query.sort = mistakes.collect([], try sort())
        query.fields = mistakes.collect(nil, try fields())
        query.search = mistakes.collect(nil, try searchQuery("q"))
        query.sync = mistakes.collect(nil, try choice("sync", called: "state"))
        refuseRepeatedFilters(except: Self.ofLists, &mistakes)
        let reader = FilterReader(entity: entity)
        for item in items where !Self.ofLists.contains(item.name) && !mistakes.isFull {
            mistakes.collect { () throws(Problem) in
                query.filters.append(try reader.condition(item.name, item.value))
            }
        }
        mistakes.collect(try FilterReader.checkSize(of: query))
        for name in format.excluded {
            mistakes.collect { () throws(Problem) in
                guard try value(name) != nil else { return }
                throw .parameter(name, "\(format.mediaType) has no place for \(name)", .conflictingParameters)
            }
        }
        return query
    }

    /// The parameters of lists that are no filters.
    static let ofLists = ["limit", "cursor", "count", "fields", "q", "sort", "sync", "include", "labels"]

    /// The fields to show, each once; nil for all.
    func fields() throws(Problem) -> [String]? {
        var known: Set<String> = []
        return try names("fields")?.filter { known.insert($0).inserted }
    }

    /// The query of the queue.
    func pendingQuery(_ mistakes: inout Mistakes) -> PendingQuery {
        var query = PendingQuery()
        query.record = mistakes.collect(nil, try value("record"))
        query.sort = mistakes.collect([], try sort())
        query.limit = pageSize(50, &mistakes)
        query.cursor = mistakes.collect(nil, try value("cursor"))
        let others = ["record", "sort", "limit", "cursor"]
        refuseRepeatedFilters(except: others, &mistakes)
        for item in items where !others.contains(item.name) && !mistakes.isFull {
            mistakes.collect { () throws(Problem) in query.filters.append(try filter(item.name, item.value)) }
        }
        return query
    }

    private func sort() throws(Problem) -> [SortTerm] {
        SortTerm.list(try names("sort")?.joined(separator: ",") ?? "")
    }

    /// A filter of the queue.
    private func filter(_ name: String, _ value: String) throws(Problem) -> FilterComparison {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard PendingQuery.filters.contains(parts[0]) else {
            throw RequestShape.stray(name, known: PendingQuery.parameters)
        }
        guard parts.count == 2 else {
            let values = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return FilterComparison(parameter: name, path: parts, operation: .equal, values: values)
        }
        guard let operation = PendingQuery.comparisons.first(where: { $0.rawValue == parts[1] }) else {
            let known = PendingQuery.comparisons.map(\.rawValue).joined(separator: ", ")
            throw .parameter(name, "there is no comparison \(parts[1]); use one of \(known)")
        }
        return FilterComparison(parameter: parts[0], path: [parts[0]], operation: operation, values: [value])
    }

    /// The relations to show with each record.
    func inclusions(of entity: Entity, in schema: EntitySchema) throws(Problem) -> [Inclusion] {
        guard let paths = try names("include") else { return [] }
        do {
            return try Inclusion.tree(paths, of: entity, in: schema)
        } catch {
            throw Problem(error)
        }
    }

    /// Nil without the parameter. Throws for text that cannot be searched for.
    func searchQuery(_ name: String) throws(Problem) -> SearchQuery? {
        guard let text = try value(name) else { return nil }
        do {
            return try SearchQuery(text)
        } catch {
            throw Problem(error)
        }
    }
}
