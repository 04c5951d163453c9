/// Reads how a request says what changes it wants: `pull.since`.
struct SinceReader {
    let node: SchemaNode

    /// What stands for the time in `value`.
    private static let time = "{$since}"

    /// Whether the upstream gives out tokens or addresses, and no time is sent.
    var isDelta: Bool { node.child("token") != nil || node.child("link") != nil }

    /// What stands for the mark in templates of the list.
    var name: String { isDelta ? "delta" : "since" }

    /// `isInTemplate`: a template of the list names it.
    func mode(isInTemplate: Bool) throws(SchemaError) -> PullPlan.Mode {
        if isDelta { return .delta(try token(isInTemplate: isInTemplate)) }
        try node.requireKeys(["param", "value", "format", "field", "overlap", "from", "token", "link"])
        return .since(
            parameter: try parameter(isInTemplate: isInTemplate),
            overlap: try node.child("overlap")?.duration() ?? PullPlan.defaultOverlap)
    }

    private func token(isInTemplate: Bool) throws(SchemaError) -> PullPlan.DeltaToken {
        if let link = node.child("link") {
            try node.requireKeys(["link", "expired", "field", "partial", "full"])
            guard !isInTemplate else { throw link.error("the address is all that is sent; remove {$delta}") }
            return PullPlan.DeltaToken(
                place: try link.place(), form: .link, expired: try node.expiredStatuses(),
                isPartial: try node.flag("partial"),
                full: try node.child("full")?.place())
        }
        try node.requireKeys(["token", "param", "expired", "field", "partial", "full"])
        let parameter = try parameterName(isInTemplate: isInTemplate)
        return PullPlan.DeltaToken(
            place: try node.required("token").place(), form: .token(parameter: parameter),
            expired: try node.expiredStatuses(),
            isPartial: try node.flag("partial"), full: try node.child("full")?.place())
    }

    /// Nil where a template has the value.
    private func parameterName(isInTemplate: Bool) throws(SchemaError) -> String? {
        guard let param = node.child("param") else {
            guard isInTemplate else {
                throw node.error("the key param is missing; add it, or write {$\(name)} in query, body or headers")
            }
            return nil
        }
        guard !isInTemplate else {
            throw param.error("{$\(name)} stands in query, body or headers already; remove param or that")
        }
        return try param.string()
    }

    private func parameter(isInTemplate: Bool) throws(SchemaError) -> PullPlan.SinceParameter {
        let name = try parameterName(isInTemplate: isInTemplate)
        var parameter = PullPlan.SinceParameter(name: name ?? "", isInTemplate: name == nil)
        if let format = node.child("format") { parameter.format = try format.timeFormat() }
        if let from = node.child("from") { parameter.from = try time(from) }
        if name == nil, let value = node.child("value") {
            throw value.error(
                "the time stands in query, body or headers; write there what is around it, and remove value")
        }
        guard let value = node.child("value") else { return parameter }
        if let form = try value.string().firstMatch(of: #/\{\$since:([^}]+)\}/#)?.1 {
            throw value.error(try refusal(ofForm: String(form), in: value.string()))
        }
        let parts = try value.string().split(separator: Self.time, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw value.error("expected a text with \(Self.time) once, such as (updated>='\(Self.time)')")
        }
        (parameter.before, parameter.after) = (parts[0], parts[1])
        return parameter
    }

    /// What to write in place of `value: "… {$since:form} …"`. One `format` cannot say both how requests have the times
    /// and that records have numbers.
    private func refusal(ofForm form: String, in text: String) throws(SchemaError) -> String {
        let format = try node.child("format")?.string()
        guard let format, format != form else {
            let other = format == nil ? "beside value: format: \"\(form)\"" : "keep format"
            return "write \(Self.time) here, and \(other)"
        }
        let name = try node.child("param")?.string() ?? "…"
        return "value takes \(Self.time) alone, written as format says, which is \(format); if the records have times "
            + "of that format, and requests of another, remove param and value here, and write in the list's query: "
            + "{ \(name): '\(text)' }"
    }

    private func time(_ node: SchemaNode) throws(SchemaError) -> String {
        let text = try node.string()
        guard let time = Timestamp(iso8601: text) else {
            throw node.error("\(text) is not a time; expected one such as 1970-01-01T00:00:00Z")
        }
        return time.description
    }
}

extension SchemaNode {
    /// `expired`: 410, or a list of statuses.
    func expiredStatuses() throws(SchemaError) -> [Int] {
        guard let node = child("expired") else { return [] }
        var statuses: [Int] = []
        for element in try node.oneOrMore() {
            statuses.append(try element.integer(in: 400...599))
        }
        return statuses
    }
}
