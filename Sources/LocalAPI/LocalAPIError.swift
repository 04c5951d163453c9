internal import JSONText

/// Why a call of the local API did not do what it was asked, sorted by what the caller can do about it.
package enum LocalAPIError: Error, Sendable, Equatable {
    /// No answer came: the daemon does not run, or not where it was looked for.
    case unreachable(String)
    /// The daemon says what was wrong.
    case problem(LocalAPIProblem)
    /// An answer that the daemon never gives: something else listens there, or it is of another version.
    case unexpected(String)
}

/// A problem document (RFC 9457) as the daemon writes it.
package struct LocalAPIProblem: Sendable, Equatable {
    package struct FieldError: Sendable, Equatable {
        package var field: String
        package var message: String

        package init(field: String, message: String) {
            self.field = field
            self.message = message
        }
    }

    /// The answer's status, which the document's may only repeat.
    package var status: Int
    package var title: String
    package var detail: String
    /// What is wrong with each field of the input; empty where it is not about fields.
    package var errors: [FieldError]

    package init(status: Int, title: String, detail: String = "", errors: [FieldError] = []) {
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
    }

    /// Nil when `document` is no problem document: it has no title.
    init?(_ document: JSONText, status: Int) {
        guard let title = document["title"]?.string else { return nil }
        let errors = document["errors"]?.elements ?? []
        self.init(
            status: status, title: title, detail: document["detail"]?.string ?? "",
            errors: errors.map {
                FieldError(field: $0["field"]?.plain ?? "", message: $0["message"]?.plain ?? "")
            })
    }

    /// One sentence for a person.
    package var message: String { detail.isEmpty ? title.lowercased() : detail }
}
