package import JSONText

/// Why a call of the local API failed, by what the caller can do about it.
package enum LocalAPIError: Error, Sendable, Equatable {
    /// No answer came: the daemon is not running, or listens at another address.
    case unreachable(String)
    /// The daemon reported a problem.
    case problem(LocalAPIProblem)
    /// An answer that the daemon never gives: another program listens there, or another version of the daemon.
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

    /// The status of the response; the one in the document only repeats it.
    package var status: Int
    package var title: String
    package var detail: String
    /// What is wrong with each field of the input; empty if the problem is not about fields.
    package var errors: [FieldError]
    /// What went wrong, for programs (docs/errors.md); nil from a daemon before it had codes.
    package var code: String?
    /// The whole, as the daemon sent it.
    package var document: JSONText

    package init(
        status: Int, title: String, detail: String = "", errors: [FieldError] = [], code: String? = nil,
        document: JSONText = .object([:])
    ) {
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
        self.code = code
        self.document = document
    }

    /// Nil when `document` is not a problem document, which has a title.
    init?(_ document: JSONText, status: Int) {
        guard let title = document["title"]?.string else { return nil }
        let errors = document["errors"]?.elements ?? []
        self.init(
            status: status, title: title, detail: document["detail"]?.string ?? "",
            errors: errors.map {
                FieldError(field: $0["field"]?.plain ?? "", message: $0["message"]?.plain ?? "")
            }, code: document["code"]?.string, document: document)
    }

    /// One sentence for a person.
    package var message: String { detail.isEmpty ? title.lowercased() : detail }
}
