package import JSONText

/// Which of an entity's records the cache keeps (`pull.where`).
package struct Window: Sendable, Equatable {
    /// The values of its conditions may be templates.
    package var test: RecordTest
    /// Records outside stay while a record that is kept refers to them.
    package var keepsReferenced = true

    /// The fields that it tests, each once.
    package var fields: [String] { Set(test.names).sorted() }

    /// Whether it depends on who is signed in.
    package var usesAccount: Bool {
        templates.contains { $0.placeholders.contains { $0.name == .value("account") } }
    }

    /// Whether it moves with time.
    package var usesTime: Bool {
        templates.contains { template in
            template.placeholders.contains { if case .now = $0.name { true } else { false } }
        }
    }

    /// Whether records come into it by time alone: then no change time says which.
    package var opensWithTime: Bool {
        test.alternatives.joined().contains { condition in
            guard [.isLess, .isAtMost].contains(condition.comparison) else { return false }
            return condition.values.contains { $0.flatMap(Self.template) != nil }
        }
    }

    /// The window at a time; nil while it needs an account and none is known.
    package func test(at now: Timestamp, account: String?) -> RecordTest? {
        var test = test
        for (index, conditions) in test.alternatives.enumerated() {
            for (place, condition) in conditions.enumerated() {
                for (number, value) in condition.values.enumerated() {
                    guard let template = value.flatMap(Self.template) else { continue }
                    guard let text = template.text({ Self.value(of: $0, now, account) }) else { return nil }
                    test.alternatives[index][place].values[number] = text
                }
            }
        }
        return test
    }

    private var templates: [ValueTemplate] {
        test.alternatives.joined().flatMap(\.values).compactMap { $0.flatMap(Self.template) }
    }

    private static func template(_ value: String) -> ValueTemplate? {
        guard value.contains("{"), let template = ValueTemplate(value), !template.placeholders.isEmpty else {
            return nil
        }
        return template
    }

    private static func value(of name: ValueTemplate.Name, _ now: Timestamp, _ account: String?) -> JSONText? {
        switch name {
        case .now(let span): .some(.string((now + span).description))
        case .value("account"): account.map(JSONText.string)
        case .value, .secret, .field: .none
        }
    }
}

extension RecordTest {
    /// Whether a record of the entity passes.
    package func holds(for record: JSONText, of entity: Entity) -> Bool {
        holds { entity.value(of: $0, in: record) }
    }
}
