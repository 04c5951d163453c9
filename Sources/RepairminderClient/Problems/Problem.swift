/// A problem document (RFC 9457): why the daemon refused a call.
public struct Problem: JSONDocument {
    /// The whole, as the daemon sent it.
    public let json: JSONObject
    /// The status of the answer.
    public let status: Int
    /// For how long the daemon asks to be left alone (`Retry-After`); nil if it does not ask.
    public let retryAfter: Duration?

    /// A document that stands in another one, such as in the result of a batch.
    public init?(json: JSONObject) {
        guard let status = json["status"]?.int else { return nil }
        self.init(json: json, status: status)
    }

    init(json: JSONObject, status: Int, retryAfter: Duration? = nil) {
        self.json = json
        self.status = status
        self.retryAfter = retryAfter
    }

    /// What went wrong, for programs. An unknown code is kept; without one it is empty.
    public var code: ProblemCode { ProblemCode(rawValue: json["code"]?.string ?? "") }

    /// The kind of problem, for people.
    public var title: String { json["title"]?.string ?? "" }

    /// What went wrong, for people; may be empty.
    public var detail: String { json["detail"]?.string ?? "" }

    /// What is wrong with each part of the input; empty if the problem is not about its input.
    public var errors: [InputProblem] {
        (json["errors"]?.array ?? []).compactMap(\.object).compactMap(InputProblem.init)
    }

    /// The ids of the changes that are the reason, with `.hasDependents`.
    public var dependents: [Int] { (json["dependents"]?.array ?? []).compactMap(\.int) }

    /// The id of the request, as it stands in the daemon's log.
    public var requestID: String? { json["request_id"]?.string }

    /// One sentence for a person.
    public var description: String { detail.isEmpty ? title : detail }
}

/// What is wrong with one part of a request.
public struct InputProblem: JSONDocument {
    /// The whole, as the daemon sent it.
    public let json: JSONObject

    /// Wraps the object.
    public init?(json: JSONObject) { self.json = json }

    /// What is wrong, for programs.
    public var code: ProblemCode { ProblemCode(rawValue: json["code"]?.string ?? "") }

    /// `query`, `header` or `body`.
    public var place: String? { json["in"]?.string }

    /// In a body a JSON pointer (`/operations/3/body/status`), else the name of the parameter or header field.
    public var pointer: String? { json["pointer"]?.string }

    /// The name alone.
    public var field: String? { json["field"]?.string }

    /// What is wrong, for people.
    public var message: String { json["message"]?.string ?? "" }
}
