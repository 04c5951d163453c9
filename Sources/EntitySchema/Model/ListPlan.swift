package import JSONText

/// How a list is paged and where a response has its parts. Anything that is missing in a response is unknown.
package struct ListPlan: Sendable, Equatable {
    package enum Style: Sendable, Equatable {
        /// Numbered pages, counted from `ListPlan.first`.
        case page(parameter: String, pages: Place?)
        /// Records to skip, or the number of the first record, from `ListPlan.firstOffset`.
        case offset(parameter: String)
        /// A cursor for the next page, from the response.
        case cursor(parameter: String, next: Place)
        /// A value of the last record of the page before, such as its key.
        case lastRecord(parameter: String, place: Place)
        /// The `Link` header with `rel="next"` (RFC 8288).
        case link
        /// A header that holds the next page's number or name, such as `Next-Page`.
        case header(name: String, parameter: String)
        /// The next page's address, from the response.
        case nextURL(Place)
        /// The same from a header.
        case headerURL(name: String)
        /// Everything in one response.
        case single

        /// What stands for the position of a page in templates of the list; nil if it is never sent as a value.
        var positionName: String? {
            switch self {
            case .page: "page"
            case .offset: "offset"
            case .cursor, .lastRecord, .header: "cursor"
            case .link, .nextURL, .headerURL, .single: nil
            }
        }

        /// Where a response has the next page.
        package var next: Place? {
            switch self {
            case .cursor(_, let place), .nextURL(let place): place
            case .page, .offset, .lastRecord, .link, .header, .headerURL, .single: nil
            }
        }
    }

    package var style: Style
    /// The parameter for the number of records on a page; nil when it cannot be chosen.
    package var size: String?
    package var pageSize: Int
    /// The number of the first page.
    package var first = 1
    /// The offset of the first record.
    package var firstOffset = 0
    /// Where the response says whether there are more pages.
    package var more: Place?
    /// What stands there while there are more.
    package var moreIs = true
    /// Another call for each page after the first; nil if all are asked for alike.
    package var continuation: ListContinuation?
    /// One cursor serves all pages, and each request moves it on: no page can be asked for again, and an empty one is the last.
    package var isScroll = false
    package var total: Place?
    /// The header that has it instead.
    package var totalHeader: String?
    /// Where the response has the records.
    package var records: Place
    /// What a response without records has when there are none: an object, null, or a text or number beside the list;
    /// `.itself` if the response is `{}`.
    package var empty: Place?
    /// What shows that an object in the place of the list is a single record; nil if it never is one.
    package var lone: LoneRecord?
    /// What its records get when they are read; nil if nothing.
    package var lift: Lift?

    /// Whether the next page is asked for by the last record of this one.
    package var isByLastRecord: Bool { if case .lastRecord = style { true } else { false } }

    /// Whether the next page may depend on how many records are before it, as that at an address may, too: the deletion of one of
    /// them then moves the others.
    package var mayCount: Bool {
        switch style {
        case .page, .offset, .link, .header, .nextURL, .headerURL: true
        case .cursor, .lastRecord, .single: false
        }
    }

    /// Whether the upstream names each next page itself, and may forget it.
    package var givesPositions: Bool {
        switch style {
        case .cursor, .link, .header, .nextURL, .headerURL: true
        case .page, .offset, .lastRecord, .single: false
        }
    }

    /// What a response has in the place of the list; see `listed`. Its records are lifted.
    package func found(in answer: JSONText) -> JSONText? {
        let found = place(in: answer).map { listed($0) }
        return lift.flatMap { lift in found.map(lift.lifted(list:)) } ?? found
    }

    /// What stands in the place of the list, as it came.
    package func place(in answer: JSONText) -> JSONText? { records.list(in: answer, naming: lift?.named) }

    /// What was found in the place of the list, with the list around a single record that some servers leave out. A
    /// response that would be the list itself is never a record. `total`: how many records the response counts.
    package func listed(_ found: JSONText, total: Int? = nil) -> JSONText {
        guard let lone, !records.paths.contains(""), lone.matches(found, isOnly: total == 1) else { return found }
        return .array([found])
    }

    /// Whether a place is inside the records, as `data.-1.id` is.
    package func isInRecords(_ place: Place) -> Bool { place.isInside(records) }

    /// Whether the records are inside a place, as `data.orders` is in `data`.
    package func isInside(_ place: Place) -> Bool { records.isInside(place) }
}

/// Where a response has a value: names separated by dots, with alternatives.
package struct Place: Sendable, Equatable {
    /// The first one that exists counts; the empty path is the response itself.
    package var paths: [String]

    package static let itself = Place(paths: [""])

    package init(paths: [String]) { self.paths = paths }

    /// Whether one of the paths leads through one of the other place's, and on.
    fileprivate func isInside(_ other: Place) -> Bool {
        paths.contains { path in
            let steps = JSONPath.steps(path)
            return other.paths.contains { around in
                let outer = JSONPath.steps(around)
                return steps.count > outer.count && steps.starts(with: outer)
            }
        }
    }

    /// Null counts as absent.
    package func value(in answer: JSONText) -> JSONText? {
        for path in paths {
            if let value = answer.at(path: path), value.kind != .null { return value }
        }
        return nil
    }

    /// The first one that is a list; if none is, as `value`.
    ///
    /// A place that ends with `*` is also the values in an object of objects: `{"7": {"id": 7}}`, as programs in PHP write
    /// a list that has gaps, or that they keep by key; `naming` is a member that each value gets, with its name in the
    /// object. Through a list, the lists in all its elements are one.
    package func list(in answer: JSONText, naming member: String? = nil) -> JSONText? {
        for path in paths {
            if let found = member.flatMap({ Self.elements(at: path, in: answer, naming: $0) }) { return found }
            if let found = Self.list(at: path, in: answer) { return found }
        }
        if let found = value(in: answer) { return found }
        for path in paths {
            if let found = Self.members(at: path, in: answer, naming: member) { return found }
        }
        return nil
    }

    private static func list(at path: String, in answer: JSONText) -> JSONText? {
        guard let found = answer.at(path: path), found.kind == .array else { return nil }
        guard JSONPath.isThroughList(path) else { return found }
        let groups = found.elements
        guard !groups.isEmpty, groups.allSatisfy({ $0.kind == .array }) else { return found }
        return .array(groups.flatMap(\.elements))
    }

    /// The members of the object at a place that ends with `*`.
    private static func members(at path: String, in answer: JSONText) -> [(key: String, value: JSONText)]? {
        guard path == "*" || path.hasSuffix(".*") else { return nil }
        guard let object = answer.at(path: String(path.dropLast(2))), object.kind == .object else { return nil }
        return object.members
    }

    private static func members(at path: String, in answer: JSONText, naming member: String?) -> JSONText? {
        guard let members = members(at: path, in: answer) else { return nil }
        guard members.allSatisfy({ $0.value.kind == .object }) else { return nil }
        guard let member else { return .array(members.map(\.value)) }
        return .array(members.map { $0.value.without(member).leading([(member, .string($0.key))]) })
    }

    /// A list in place of such an object, with nulls in its gaps: so Firebase and PHP write one whose names are whole numbers.
    /// Not where a record itself says that it has another name.
    private static func elements(at path: String, in answer: JSONText, naming member: String) -> JSONText? {
        guard path == "*" || path.hasSuffix(".*") else { return nil }
        guard let list = answer.at(path: String(path.dropLast(2))), list.kind == .array else { return nil }
        var records: [JSONText] = []
        for (index, element) in list.elements.enumerated() where element.kind != .null {
            let name = "\(index)"
            guard element.kind == .object, element[member].map({ $0.plain == name }) ?? true else { return nil }
            records.append(element.without(member).leading([(member, .string(name))]))
        }
        return .array(records)
    }

    /// Where an object stands in place of the list, whose members all are records with this key: `contacts.*` for
    /// `contacts`.
    package func membersWithKey(_ key: Place, in answer: JSONText) -> String? {
        paths.lazy.map { $0.isEmpty ? "*" : "\($0).*" }.first { path in
            let members = Self.members(at: path, in: answer, naming: nil)?.elements ?? []
            return !members.isEmpty && members.allSatisfy { key.value(in: $0) != nil }
        }
    }

    /// Where a place ends with `*`: the first member of the object there that is no object, so that it is no list.
    package func strayMember(in answer: JSONText) -> String? {
        paths.lazy.compactMap { path in
            Self.members(at: path, in: answer)?.first { $0.value.kind != .object }?.key
        }.first
    }

    /// Whether it is there, and null.
    package func isNull(in answer: JSONText) -> Bool { paths.contains { answer.at(path: $0)?.kind == .null } }

    /// Whether there is what programs in PHP write for null: an empty list or object, or `false`. Never the answer itself.
    package func isBlank(in answer: JSONText) -> Bool {
        guard let path = paths.first(where: { answer.at(path: $0) != nil }), !path.isEmpty,
            let value = answer.at(path: path)
        else { return false }
        return switch value.kind {
        case .object: value.members.isEmpty
        case .array: value.elements.isEmpty
        default: value.boolean == false
        }
    }

    /// Whether it is an element of a list that is there and has none: `0` of `[]`.
    package func isInEmptyList(in answer: JSONText) -> Bool {
        guard value(in: answer) == nil else { return false }
        return paths.contains { path in
            guard let step = JSONPath.steps(path).last, Int(step) != nil, path.hasSuffix(step) else { return false }
            guard let list = answer.at(path: String(path.dropLast(step.count + 1))) else { return false }
            return list.kind == .array && list.elements.isEmpty
        }
    }

    /// The innermost object around it that an answer has.
    package func outer(in answer: JSONText) -> String? {
        for path in paths {
            var path = path[...]
            while let step = JSONPath.steps(String(path)).last, path.count > step.count, path.hasSuffix(step) {
                path = path.dropLast(step.count + 1)
                if answer.at(path: String(path))?.kind == .object { return String(path) }
            }
        }
        return nil
    }

    package var description: String { paths.map { $0.isEmpty ? "the answer" : $0 }.joined(separator: " or ") }
}

/// One parameter of a query, decoded.
package struct QueryItem: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
