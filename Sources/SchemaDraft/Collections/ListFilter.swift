/// Parameters of a list that choose some of its records, and what to send so that it answers all of them.
struct ListFilter {
    let list: APIOperation
    /// A record.
    let item: DataShape
    let shapes: ShapeReader

    /// What a parameter is sent so that the list has all records.
    struct Whole {
        var values: [String]
        var separator: String?
        /// Only words say that the parameter takes several values.
        var isGuess = false
    }

    /// Longer addresses may be refused.
    private static let mostValues = 50
    /// Words for all values of a parameter.
    static let all: Set = ["all", "any", "both"]
    /// Parameters that choose what each record shows, or the order.
    private static let views: Set = [
        "fields", "field", "include", "includes", "expand", "embed", "select", "with", "sort", "sortby", "order",
        "orderby", "format", "columns", "view", "properties", "attributes",
    ]

    /// Nil for a parameter that can be left out, and for one that cannot be sent so that the list has all records.
    func whole(_ parameter: APIOperation.Parameter) -> Whole? {
        let values = Self.values(parameter, shapes)
        guard parameter.place == "query", values.count > 1, values.count <= Self.mostValues, choosesSome(parameter),
            values.allSatisfy(FixedParameter.isPlain)
        else { return nil }
        if let all = values.first(where: { Self.all.contains($0.lowercased()) }) { return Whole(values: [all]) }
        guard covers(values, parameter) else { return nil }
        if parameter.shape.isList { return Whole(values: values, separator: parameter.separator) }
        guard Self.saysSeveral(parameter) else { return nil }
        return Whole(values: values, separator: parameter.separator, isGuess: true)
    }

    /// What a person has to check about the parameters.
    func todos(sent: Set<String>) -> [String] {
        list.queries.compactMap { parameter in
            if let whole = whole(parameter) { return check(whole, parameter) }
            guard !sent.contains(parameter.name), let preset = preset(parameter), choosesSome(parameter) else {
                return optionalSearch(parameter)
            }
            return
                "pull.query.\(parameter.name): without it the list has only the records with \(preset), if that is its default"
        }
    }

    // MARK: Parameters

    /// Words may mean one of several values; and a record without a value has none of them.
    private func check(_ whole: Whole, _ parameter: APIOperation.Parameter) -> String? {
        if whole.isGuess {
            return "pull.query.\(parameter.name): check that the list then has the records of all these values"
        }
        guard whole.values.count > 1, let name = member(parameter)?.name, !item.required.contains(name) else {
            return nil
        }
        return "pull.query.\(parameter.name): check that the list then also has the records without \(name)"
    }

    /// `q` of a list that finds records: some answer nothing without it.
    private func optionalSearch(_ parameter: APIOperation.Parameter) -> String? {
        guard list.path.findsParent, !parameter.isRequired, PartialList.isSearchWord(parameter.name) else { return nil }
        return "pull.path: check that the list has all records without its parameter \(parameter.name)"
    }

    /// Whether the list answers only some records without it, or with its default.
    private func choosesSome(_ parameter: APIOperation.Parameter) -> Bool {
        let isSought = FindingLists.sought(list.path.lastSegment).contains { Self.isNamed(parameter.name, $0) }
        if isSought { return true }
        guard !Self.views.contains(Words.folded(parameter.name)) else { return false }
        // A switch for what records show as something else only brings that along: `customer_detail=true`.
        let kinds: [DataShape.Kind] = [.boolean, .unknown]
        let isMember =
            member(parameter).map { member in
                parameter.shape.kind != .boolean || kinds.contains(shapes.shape(of: member).kind)
            } ?? false
        if parameter.isRequired { return parameter.shape.isList || isMember }
        return isMember && preset(parameter) != nil
    }

    /// The default, if that is one of several values. A switch that is off may only be no filter.
    private func preset(_ parameter: APIOperation.Parameter) -> String? {
        let shape = parameter.shape
        let preset = shape.initial ?? (shape.isList ? shapes.elements(of: shape).initial : nil)
        return preset.flatMap { value in
            let isChoice =
                shape.kind == .boolean ? value == "true" : Self.values(parameter, shapes).contains(value)
            return isChoice && !Self.all.contains(value.lowercased()) ? value : nil
        }
    }

    /// Whether a record has no other value of the member than these.
    private func covers(_ values: [String], _ parameter: APIOperation.Parameter) -> Bool {
        guard let member = member(parameter) else { return true }
        let shape = shapes.shape(of: member)
        let known = (shape.isList ? shapes.elements(of: shape) : shape).enumValues.map { $0.value.lowercased() }
        return Set(known).isSubset(of: values.map { $0.lowercased() })
    }

    private func member(_ parameter: APIOperation.Parameter) -> DataShape.Property? {
        item.properties.first { Self.isNamed(parameter.name, Words.folded($0.name)) }
    }

    private static func values(_ parameter: APIOperation.Parameter, _ shapes: ShapeReader) -> [String] {
        let shape = parameter.shape.isList ? shapes.elements(of: parameter.shape) : parameter.shape
        return shape.enumValues.map(\.value)
    }

    /// Whether words say that a parameter, which is no list, takes several values.
    private static func saysSeveral(_ parameter: APIOperation.Parameter) -> Bool {
        let words = (parameter.description ?? "").lowercased()
        return words.contains(/\b(multiple|several|one or more)\b|comma[- ](separated|delimited)|\bvalues\b/)
    }

    static func isNamed(_ name: String, _ other: String) -> Bool {
        let (one, two) = (Words.folded(name), Words.folded(other))
        return one == two || Words.singular(one) == Words.singular(two)
    }
}
