/// Reads `upstream.answers`: what statuses, headers and members of answers mean.
struct AnswerRuleReader {
    /// Nil without rules.
    let node: SchemaNode?

    func rules() throws(SchemaError) -> [AnswerRule] {
        guard let node else { return [] }
        var rules: [AnswerRule] = []
        for element in try node.elements() {
            let rule = try rule(element)
            if let earlier = rules.firstIndex(where: { $0.fitsAll(of: rule) }) {
                throw element.error(
                    "this rule never decides, because answers.\(earlier) comes first and fits the same answers; write the rule "
                        + "with more conditions first, or remove one")
            }
            rules.append(rule)
        }
        return rules
    }

    private func rule(_ node: SchemaNode) throws(SchemaError) -> AnswerRule {
        try node.requireKeys(["status", "header", "when", "means", "until"])
        let means: AnswerRule.Meaning = try node.required("means").word()
        let rule = AnswerRule(
            statuses: try statuses(node.child("status")), headers: try headers(node.child("header")),
            members: try node.child("when")?.memberTests() ?? [], means: means,
            until: try until(node.child("until"), means))
        guard !rule.statuses.isEmpty || !rule.headers.isEmpty || !rule.members.isEmpty else {
            throw node.error("expected status, header or when; without them the rule would fit every answer")
        }
        return rule
    }

    /// `404`, `4xx`, or a list of them.
    private func statuses(_ node: SchemaNode?) throws(SchemaError) -> [ClosedRange<Int>] {
        guard let node else { return [] }
        var ranges: [ClosedRange<Int>] = []
        for text in try node.texts() {
            if text.count == 3, text.hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
                (2...5).contains(hundreds)
            {
                ranges.append(hundreds * 100...hundreds * 100 + 99)
            } else if let status = Int(text), (200...599).contains(status) {
                ranges.append(status...status)
            } else {
                throw node.error("\(text) is not a status; expected a number from 200 to 599, or such as 4xx")
            }
        }
        return ranges
    }

    /// Name → value, list of values, or `any`.
    private func headers(_ node: SchemaNode?) throws(SchemaError) -> [AnswerRule.Header] {
        var headers: [AnswerRule.Header] = []
        for (name, value) in try node?.members() ?? [] {
            try value.checkHeaderName(name)
            let values = try value.texts()
            headers.append(AnswerRule.Header(name: name, values: values == [Self.any] ? [] : values))
        }
        return headers
    }

    private func until(
        _ node: SchemaNode?, _ means: AnswerRule.Meaning
    ) throws(SchemaError) -> AnswerRule.Until? {
        guard let node else { return nil }
        guard means == .throttled else { throw node.error("until belongs to means: throttled; remove it") }
        try node.requireKeys(["header", "at"])
        switch (node.child("header"), node.child("at")) {
        case (let header?, nil): return .header(try header.headerName())
        case (nil, let place?): return .member(try place.place())
        default: throw node.error("expected either header or at, which says how long to wait")
        }
    }

    private static let any = "any"
}

extension SchemaNode {
    private static let not = ".ne"

    /// Place → value or list of values; with `.ne`, what it must not be.
    func memberTests() throws(SchemaError) -> [AnswerRule.Member] {
        var tests: [AnswerRule.Member] = []
        for (name, value) in try members() {
            let isExcluded = name.hasSuffix(Self.not)
            let path = isExcluded ? String(name.dropLast(Self.not.count)) : name
            guard !path.isEmpty else { throw value.error("expected a place in the answer, such as error.code") }
            try value.checkSteps(of: path)
            tests.append(
                AnswerRule.Member(
                    place: Place(paths: [path]), values: try value.texts().map { $0 == "null" ? nil : $0 },
                    isExcluded: isExcluded))
        }
        return tests
    }
}

extension AnswerRule {
    /// Whether it fits every answer that another rule fits.
    fileprivate func fitsAll(of other: AnswerRule) -> Bool {
        let isSameStatus =
            statuses.isEmpty
            || !other.statuses.isEmpty
                && other.statuses.allSatisfy { range in statuses.contains { $0.contains(range) } }
        return isSameStatus && headers.allSatisfy(other.headers.contains) && members.allSatisfy(other.members.contains)
    }
}
