import ArgumentParser
import LocalAPI

/// Filters as the command line has them, `field=value`, as the query that a list takes.
enum FilterArguments {
    static func query(_ filters: [String]) throws(ValidationError) -> LocalAPIClient.Query {
        var query: LocalAPIClient.Query = []
        for filter in filters {
            guard let equals = filter.firstIndex(of: "="), equals > filter.startIndex else {
                throw ValidationError("\(filter): expected a filter such as status=ready")
            }
            query.append((String(filter[..<equals]), String(filter[filter.index(after: equals)...])))
        }
        return query
    }
}
