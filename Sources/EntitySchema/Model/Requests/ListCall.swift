/// How a list is asked for, if it is more than GET with constant parameters: by POST with a body, with headers, or with
/// values in its path, its query or its body.
package struct ListCall: Sendable, Equatable {
    package struct Parameter: Sendable, Equatable {
        package var name: String
        package var value: ValueTemplate

        fileprivate func formatting(_ value: String, as format: TimeFormat) -> Parameter {
            Parameter(name: name, value: self.value.formatting(value, as: format))
        }
    }

    package var method = "GET"
    /// Nil for a path without values.
    package var path: ValueTemplate?
    /// The parameters with values; the constant ones are `PullPlan.query`.
    package var query: [Parameter] = []
    package var body: JSONTemplate?
    /// The header fields that only this list is asked for with.
    package var headers: [Parameter] = []

    package var placeholders: [ValueTemplate.Placeholder] { templates.flatMap(\.placeholders) }

    /// Every text with values.
    var templates: [ValueTemplate] {
        [path].compactMap(\.self) + (query + headers).map(\.value) + (body?.templates ?? [])
    }

    /// Whether a value of this name stands anywhere, so that it is no parameter of its own.
    package func names(_ value: String) -> Bool { placeholders.contains { $0.name == .value(value) } }

    /// Whether it depends on the account or on the upstream's time.
    package var namesSurroundings: Bool {
        placeholders.contains { placeholder in
            if case .now = placeholder.name { true } else { placeholder.name == .value("account") }
        }
    }

    /// Whether a header says from when on changes are wanted, so that an answer may say that there are none (304).
    package var isConditional: Bool {
        headers.contains { $0.value.placeholders.contains { $0.name == .value("since") } }
    }

    /// The same with this format where `value` is named without one.
    func formatting(_ value: String, as format: TimeFormat) -> ListCall {
        var call = self
        call.path = path?.formatting(value, as: format)
        call.query = query.map { $0.formatting(value, as: format) }
        call.headers = headers.map { $0.formatting(value, as: format) }
        call.body = body?.formatting(value, as: format)
        return call
    }
}

/// How each page after the first is asked for, where that is another call (`pagination.continue`).
///
/// It sends what it says and nothing else: no parameter of the first call, and no size of a page that it does not name.
package struct ListContinuation: Sendable, Equatable {
    /// As written.
    package var path: String
    /// The constant parameters.
    package var query: [QueryItem]
    /// Names the cursor.
    package var call: ListCall
}

/// What a list's placeholders stand for, besides its paging. One without a value leaves out what names it.
package struct ListValues: Sendable, Equatable {
    /// `{$since}`, in ISO 8601: nil when everything is asked for.
    package var since: String?
    /// `{$delta}`.
    package var delta: String?
    /// `{$until}`, a time in ISO 8601 or a number: nil unless only a part of the window is asked for.
    package var until: String?
    /// `{$account}`.
    package var account: String?
    /// `{$now}`: the upstream's time.
    package var now: Timestamp?

    package init(since: String? = nil, delta: String? = nil, account: String? = nil, now: Timestamp? = nil) {
        self.since = since
        self.delta = delta
        self.account = account
        self.now = now
    }
}
