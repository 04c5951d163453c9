/// Reads how a request says since when it wants changes: `param`, `value` and `format` of `pull.since`.
struct SinceReader {
    let node: SchemaNode

    /// What stands for the time in `value`.
    private static let time = "{$since}"

    func parameter() throws(SchemaError) -> PullPlan.SinceParameter {
        var parameter = PullPlan.SinceParameter(name: try node.required("param").string())
        if let format = node.child("format") { parameter.format = try self.format(format) }
        guard let value = node.child("value") else { return parameter }
        let parts = try value.string().split(separator: Self.time, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw value.error("expected a text with \(Self.time) once, such as (updated>='\(Self.time)')")
        }
        (parameter.before, parameter.after) = (parts[0], parts[1])
        return parameter
    }

    private func format(_ node: SchemaNode) throws(SchemaError) -> TimeFormat {
        let word = try node.string()
        if let format = TimeFormat(rawValue: word) { return format }
        let known = TimeFormat.allCases.map(\.rawValue)
        throw node.error(
            "\(word) is no format of a time\(Suggestion.hint(for: word, among: known)); expected one of "
                + known.joined(separator: ", "))
    }
}
