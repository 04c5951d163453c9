internal import EntitySchema
internal import JSONText

/// Notices that an answer with records says that it lacks some: an upstream that asks others, such as one for each shard, may
/// answer with what it got in time.
enum PartialAnswer {
    /// Members that say so with `true`.
    private static let flags = [
        "timed_out", "timedOut", "incomplete_results", "incompleteResults", "incomplete", "partial",
        "responseHeader.partialResults",
    ]
    /// Places that count what did not answer: shards of Elasticsearch, and clusters behind it.
    private static let counts = ["_shards.failed", "_clusters.skipped"]
    /// Members that say so with `false`.
    private static let denials = ["success", "ok"]
    /// Members of a record that holds the list, such as an order with its parts: what else it has is about itself.
    private static let keys = ["id", "_id", "uuid"]

    /// The member that says so, or the status; nil if none does. `envelope` is the body without the records. `empty`: the
    /// place that means an empty list, which an error may do too. `isLast`: no other page is asked for after this one.
    /// `isBlank`: it has no records.
    static func found(
        in response: HTTPResponse, _ envelope: JSONText, empty: Place? = nil, isLast: Bool, isBlank: Bool = false
    ) -> String? {
        // The upstream is still preparing the list.
        if response.status == 202, isBlank { return "status 202" }
        // A range of a list that was asked for says which one it is, as PostgREST's do. Before another page, 206 only says
        // that there is one, as TOPdesk's.
        if isLast, isPart(response) { return "status 206" }
        guard envelope.kind == .object, !keys.contains(where: { envelope[$0] != nil }) else { return nil }
        if let flag = flags.first(where: { envelope.at(path: $0)?.boolean == true }) { return flag }
        if let count = counts.first(where: { envelope.at(path: $0)?.wholeNumber ?? 0 > 0 }) { return count }
        // Google Cloud names the regions that did not answer.
        if isFilled(envelope["unreachable"]) { return "unreachable" }
        let known = empty?.paths ?? []
        if !known.contains("errors"), isFilled(envelope["errors"]) { return "errors" }
        if !known.contains("error"), isError(envelope["error"], isBlank: isBlank) { return "error" }
        // With records, it is about something else.
        guard isBlank else { return nil }
        // JSend.
        if !known.contains("status"), ["error", "fail"].contains(envelope["status"]?.string) { return "status" }
        return denials.first { !known.contains($0) && envelope[$0]?.boolean == false }
    }

    /// Whether it is a part of a list, and does not say which.
    static func isPart(_ response: HTTPResponse) -> Bool {
        response.status == 206 && response.header("Content-Range") == nil
    }

    /// Whether an object says why the rest is not there, as ServiceNow's does once a request has taken too long.
    /// A text may be "OK", and a code of that, of 0, or of one below 400 says the same; without records, any other is an error.
    private static func isError(_ value: JSONText?, isBlank: Bool) -> Bool {
        guard let value, value.kind == .object else {
            return isBlank && value.map { $0.kind == .string && isFilled($0) && !isFine($0) } ?? false
        }
        let code = ["code", "status"].lazy.compactMap { value[$0] }.first
        if let code, isFine(code) { return false }
        return ["message", "detail", "description", "reason"].contains { value[$0]?.string?.isEmpty == false }
    }

    private static func isFine(_ code: JSONText) -> Bool {
        if let number = code.wholeNumber { return number == 0 || (100..<400).contains(number) }
        return ["ok", "success"].contains(code.string?.lowercased())
    }

    private static func isFilled(_ value: JSONText?) -> Bool {
        switch value?.kind {
        case .array: value?.elementCount ?? 0 > 0
        case .object: value.map { !$0.members.isEmpty } ?? false
        case .string: value?.string?.isEmpty == false
        default: false
        }
    }
}
