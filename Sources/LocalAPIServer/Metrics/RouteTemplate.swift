internal import EntitySchema

/// The address of a request with its variable parts named, so that there are only so many.
enum RouteTemplate {
    /// What is at no known address.
    static let other = "other"

    private static let top: Set<String> = ["", "healthz", "metrics", "openapi.json", "readyz", "style.css"]
    /// Addresses of the API's own, which no entity can have as its name.
    private static let own = EntitySchema.reservedEntityNames
    /// Words that may follow, in the place of an id and of a relation.
    private static let second: Set<String> = ["count", "pause", "resume", "retry"]
    private static let third: Set<String> = [
        "content", "dismiss", "history", "resolve", "retry", "snooze", "thumbnail", "undo",
    ]

    /// `segments` of a path, decoded.
    static func of(_ segments: [String], _ schema: EntitySchema) -> String {
        guard segments.first == "v1" else {
            return segments.count == 1 && top.contains(segments[0]) ? "/" + segments[0] : other
        }
        guard (2...4).contains(segments.count) else { return other }
        let isOwn = own.contains(segments[1])
        guard isOwn || schema[segments[1]] != nil else { return other }
        var template = "/v1/" + (isOwn ? segments[1] : "{entity}")
        if segments.count > 2 { template += "/" + (isOwn && second.contains(segments[2]) ? segments[2] : "{id}") }
        if segments.count > 3 {
            template += "/" + (third.contains(segments[3]) ? segments[3] : "{relation}")
        }
        return template
    }
}
