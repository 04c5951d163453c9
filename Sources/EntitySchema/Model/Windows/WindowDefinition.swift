internal import JSONText

/// A window as a pull applied it. Its text is stored and compared with that of the window that applies now.
package struct WindowDefinition: Sendable, Equatable {
    /// The values of its conditions may be templates.
    package var test: RecordTest
    /// What `{$account}` stands for; nil if it is not named, or not known.
    package var account: String?
    /// How often the upstream's time was seen to go back, for a window that moves with it.
    package var returns: Int

    package init(of window: Window, account: String? = nil, returns: Int = 0) {
        test = window.test
        self.account = window.usesAccount ? account : nil
        self.returns = returns
    }

    /// Identical text means the same window, at the same time.
    package var text: String {
        let alternatives = test.alternatives.map { conditions in JSONText.array(conditions.map(\.stored)) }
        var members = [(key: "where", value: JSONText.array(alternatives))]
        if let account { members.append((key: "account", value: .string(account))) }
        if returns > 0 { members.append((key: "clock", value: .integer(returns))) }
        return JSONText.object(members: members).text
    }

    /// Nil for the text of an older version.
    package init?(text: String) {
        guard let value = try? JSONText(parsing: text), let stored = value["where"], stored.kind == .array else {
            return nil
        }
        var alternatives: [[RecordTest.Condition]] = []
        for mapping in stored.elements {
            let conditions = mapping.elements.compactMap(RecordTest.Condition.init(stored:))
            guard conditions.count == mapping.elements.count else { return nil }
            alternatives.append(conditions)
        }
        test = RecordTest(alternatives: alternatives)
        account = value["account"]?.string
        returns = value["clock"]?.integer ?? 0
    }

    /// Whether records come into it by time alone.
    package var opensWithTime: Bool { window.opensWithTime }

    /// Whether every record in this window at that time is in the other one as well. False where the conditions alone do
    /// not show it.
    package func isInside(_ other: WindowDefinition, at now: Timestamp) -> Bool {
        guard returns == other.returns, let inner = resolved(at: now), let outer = other.resolved(at: now) else {
            return false
        }
        return inner.implies(outer)
    }

    /// The lower bound of `old` at that time, if the two differ in nothing else: what this window has and `old` had not
    /// is below it, or has exactly that value.
    package func bound(of old: WindowDefinition, at now: Timestamp) -> String? {
        guard returns == old.returns, account == old.account, test.alternatives.count == 1,
            old.test.alternatives.count == 1
        else { return nil }
        let (mine, others) = (test.alternatives[0], old.test.alternatives[0])
        let added = mine.filter { !others.contains($0) }
        let removed = others.filter { !mine.contains($0) }
        guard added.count == 1, removed.count == 1, added[0].field == removed[0].field, added[0].isLowerBound,
            removed[0].isLowerBound
        else { return nil }
        let place = others.firstIndex(of: removed[0]) ?? 0
        return old.resolved(at: now)?.alternatives[0][place].values[0]
    }

    private var window: Window { Window(test: test) }

    private func resolved(at now: Timestamp) -> RecordTest? { window.test(at: now, account: account) }
}

extension RecordTest.Condition {
    /// Whether it sets the least value, such as the earliest time.
    var isLowerBound: Bool { comparison == .isGreater || comparison == .isAtLeast }

    /// `["total.gte", ["5"]]`.
    fileprivate var stored: JSONText {
        .array([.string(name), .array(values.map { value in value.map { .string($0) } ?? .null })])
    }

    fileprivate init?(stored: JSONText) {
        let parts = stored.elements
        guard parts.count == 2, let words = parts[0].string?.split(separator: ".").map(String.init),
            let field = words.first, words.count <= 2,
            let comparison = RecordTest.Comparison(rawValue: words.count > 1 ? words[1] : "")
        else { return nil }
        self.init(field: field, comparison: comparison, values: parts[1].elements.map { $0.string })
    }
}
