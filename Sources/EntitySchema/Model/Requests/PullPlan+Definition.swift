internal import JSONText

/// What a pull of everything asks for, and how it finds records and changes in the answers, as text. A cache compares it with
/// what it was filled from. A text never changes: databases hold it.
///
/// With a window, the parameters say what the window says, and a cache knows which one it was filled with.
extension PullPlan {
    package var definition: String {
        let constant = query.map { (key: $0.name, value: JSONText.string($0.value)) }
        let asked: [JSONText] = window == nil ? [.object(members: constant), call?.definition ?? .null] : []
        let found: [JSONText] = [.string(mode.definition), .string(changedAt), .string(deleted?.definition)]
        let embedded = details.filter(\.isInList).map(\.definition)
        return JSONText.array([.string(path)] + asked + list.definition + found + embedded).text
    }

    /// The same of what is fetched for each record besides the list.
    package var detailDefinition: String {
        let fetched = details.filter { !$0.isInList }.map(\.definition)
        let isSingle = fetch?.isSingle ?? false
        let own: [JSONText] = isSingle ? [.string(single.path.source), .string(single.place.definition)] : []
        return JSONText.array(fetched + own).text
    }
}

extension PullPlan {
    /// The same of the list that a token is sent to, if that is another one; nil if not.
    package var tokenDefinition: String? { deltaToken == nil || changes == nil ? nil : ofChanges.definition }
}

extension TombstoneList {
    /// The same of a list of deletions.
    package var definition: String {
        let links = JSONText.array(of: plan.list.lift?.paths ?? [])
        let found: [JSONText] = [.string(key.definition), .string(at?.definition), links]
        return JSONText.array([.string(plan.definition)] + found + marks.map(\.definition)).text
    }
}

extension AnswerRule.Member {
    fileprivate var definition: JSONText {
        .array([.string(place.definition), .array(values.map { .string($0) }), .boolean(isExcluded)])
    }
}

extension PullPlan.Detail {
    fileprivate var definition: JSONText {
        .array([.string(path?.source), .string(entity), .string(by)] + list.definition)
    }
}

extension PullPlan.Mode {
    fileprivate var definition: String {
        switch self {
        case .since(let parameter, _): "since \(parameter.name) \(parameter.example) \(parameter.from ?? "")"
        case .delta(let token): "delta \(token.place.definition)"
        case .newestFirst: "newest_first"
        case .full: "full"
        }
    }
}

extension PullPlan.DeletionMark {
    fileprivate var definition: String { "\(name) \(place ?? "") \(values.map { JSONText.array(of: $0).text } ?? "")" }
}

extension ListCall {
    fileprivate var definition: JSONText {
        func members(_ parameters: [Parameter]) -> JSONText {
            .object(members: parameters.map { (key: $0.name, value: .string($0.value.definition)) })
        }
        return .array([
            .string(method), .string(path?.definition), members(query), members(headers), body?.definition ?? .null,
        ])
    }
}

extension ValueTemplate {
    fileprivate var definition: String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .placeholder(let placeholder): "{\(placeholder.source)}"
            }
        }.joined()
    }
}

extension JSONTemplate {
    fileprivate var definition: JSONText {
        switch self {
        case .constant(let json): json
        case .text(let template): .string(template.definition)
        case .object(let members): .object(members: members.map { (key: $0.name, value: $0.value.definition) })
        case .list(let elements): .array(elements.map(\.definition))
        }
    }
}

extension SignalEvents {
    /// How the position is found and sent: one that was found in another way says nothing here.
    package var definition: String {
        since.map { "\($0.parameter) \($0.greatest.definition)" } ?? list.style.definition
    }
}

extension ListPlan {
    fileprivate var definition: [JSONText] {
        [
            .string(style.definition), .string(size), .integer(pageSize), .integer(first), .integer(firstOffset),
            .string(more?.definition), .boolean(moreIs), .string(total?.definition), .string(totalHeader),
            .string(records.definition),
        ] + [continuation?.definition].compactMap(\.self)
    }
}

extension ListContinuation {
    fileprivate var definition: JSONText {
        let constant = query.map { (key: $0.name, value: JSONText.string($0.value)) }
        return .array([.string(path), .object(members: constant), call.definition])
    }
}

extension ListPlan.Style {
    fileprivate var definition: String {
        switch self {
        case .page(let parameter, let pages): "page \(parameter) \(pages?.definition ?? "")"
        case .offset(let parameter): "offset \(parameter)"
        case .cursor(let parameter, let next): "cursor \(parameter) \(next.definition)"
        case .lastRecord(let parameter, let place): "last \(parameter) \(place.definition)"
        case .link: "link"
        case .header(let name, let parameter): "header \(name) \(parameter)"
        case .nextURL(let place): "url \(place.definition)"
        case .headerURL(let name): "header_url \(name)"
        case .single: "single"
        }
    }
}

extension Place {
    fileprivate var definition: String { paths.joined(separator: "|") }
}
