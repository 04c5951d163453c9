internal import EntitySchema
internal import JSONText

/// Computes the fields of records that depend on the records referring to them, independently of the daemon's code.
struct DerivedFields {
    let schema: EntitySchema
    /// The account that owns the records.
    let account: String

    /// The parent after one of its children has changed from `before` (nil when it is new) to `after` (nil when it is
    /// gone). `children` returns its current children.
    func parent(
        _ record: JSONText, _ link: ParentLink, before: JSONText?, after: JSONText?, children: () -> [JSONText]
    ) -> JSONText {
        var record = record
        for (field, figure) in figures(over: link) {
            switch figure.measure {
            case .latest(let shown, let by):
                let value = latest(shown, by: by, in: children().filter { counts($0, figure, link) }, link)
                record = record.setting(field.name, to: value)
            case .count, .sum:
                let change = worth(after, figure, link) - worth(before, figure, link)
                guard !change.isZero else { continue }
                let least = field.kind == .money ? 2 : 0
                let sum = (ExactNumber(record[field.name]) ?? ExactNumber(0, decimals: least)) + change
                record = record.setting(field.name, to: sum.json)
            }
        }
        return record
    }

    /// The parent with all computed fields over its children.
    func complete(_ record: JSONText, _ link: ParentLink, children: [JSONText]) -> JSONText {
        var record = record
        for (field, figure) in figures(over: link) {
            if case .latest = figure.measure { continue }
            record = record.setting(
                field.name, to: ExactNumber(0, decimals: field.kind == .money ? 2 : 0).json)
        }
        for child in children.dropLast() {
            record = parent(record, link, before: nil, after: child) { [] }
        }
        return parent(record, link, before: nil, after: children.last) { children }
    }

    private func figures(over link: ParentLink) -> [(field: Field, figure: ChildFigure)] {
        guard let entity = schema[link.parent] else { return [] }
        return entity.fields.compactMap { field in
            guard case .children(let figure) = field.derivation, let relation = entity[relation: figure.relation],
                relation.entity == link.child, case .many(link.field, _) = relation.kind
            else { return nil }
            return (field, figure)
        }
    }

    // MARK: Children

    private func worth(_ child: JSONText?, _ figure: ChildFigure, _ link: ParentLink) -> ExactNumber {
        guard let child, counts(child, figure, link) else { return ExactNumber(0) }
        guard case .sum(let field) = figure.measure else { return ExactNumber(1) }
        return ExactNumber(schema[link.child]?.value(of: field, in: child)) ?? ExactNumber(0)
    }

    private func counts(_ child: JSONText, _ figure: ChildFigure, _ link: ParentLink) -> Bool {
        figure.conditions.allSatisfy { condition in
            let value = schema[link.child]?.value(of: condition.field, in: child) ?? .null
            let texts = value.kind == .array ? value.elements.map(\.plain) : value == .null ? [] : [value.plain]
            let wanted = condition.values.map { $0 == Condition.account ? account : $0 }
            return texts.contains(where: wanted.contains) != condition.excluded
        }
    }

    private func latest(_ shown: String, by: String, in children: [JSONText], _ link: ParentLink) -> JSONText {
        guard let entity = schema[link.child] else { return .null }
        func time(_ child: JSONText) -> Int64 {
            entity.value(of: by, in: child)?.string.flatMap { Timestamp(iso8601: $0) }?.milliseconds ?? .min
        }
        guard let last = children.max(by: { time($0) < time($1) }) else { return .null }
        return entity.value(of: shown, in: last) ?? .null
    }
}
