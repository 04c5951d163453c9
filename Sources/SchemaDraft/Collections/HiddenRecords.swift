/// Parameters without which a list hides some of its records: `?state=all`, where only open ones come by themselves. A record that
/// is closed would go from the list, as if it were deleted.
enum HiddenRecords {
    /// The value with which a list shows all records; nil if the parameter hides none, or if deleted ones would come back with it.
    static func value(of parameter: APIOperation.Parameter, item: DataShape? = nil) -> String? {
        bringsBackDeleted(parameter, item: item) ? nil : whole(parameter)
    }

    /// Whether deleted records would also come with the value for all, and no member of a record, `item`, marks them.
    static func bringsBackDeleted(_ parameter: APIOperation.Parameter, item: DataShape?) -> Bool {
        guard namesDeleted(parameter), whole(parameter) != nil else { return false }
        return item?.properties.contains { deletionMarks.contains(Words.folded($0.name)) } != true
    }

    /// What is missing for a list that cannot be asked for all records, because deleted ones would be among them.
    static func deletedTodo(_ list: APIOperation, item: DataShape) -> String? {
        for parameter in list.queries where bringsBackDeleted(parameter, item: item) {
            guard let all = whole(parameter) else { continue }
            return
                "pull.query.\(parameter.name): \(all) also shows deleted records, and nothing was found that marks them; "
                + "without it the list may hide others"
        }
        return nil
    }

    /// Members that say that a record is deleted.
    static let deletionMarks: Set = ["deletedat", "isdeleted", "deleted", "datedeleted"]

    /// Members that say so where a deletion archives the record.
    static let archiveMarks: Set = ["archivedat", "isarchived", "archived", "datearchived"]

    /// Members that say that a record is not deleted.
    private static let lifeMarks: Set = ["active", "isactive", "enabled", "isenabled"]
    /// States of deleted records.
    private static let deletedStates: Set = [
        "deleted", "trash", "trashed", "removed", "archived", "inactive", "disabled", "deactivated", "cancelled",
        "canceled", "void", "voided",
    ]

    /// What a deletion only sets, in the document's words: "Deleting a record sets its `active` field to `0`."
    static func mark(setBy deletion: APIOperation) -> (name: String, value: String)? {
        let words =
            /(?i)\b(?:set|chang|mark)\w* \w+ [`'"]?(\w+)[`'"]?(?: field)?(?: of \w+ \w+)? (?:to|as) [`'"]?(\w+)/
        guard let found = deletion.words.firstMatch(of: words) else { return nil }
        let (name, value) = (Words.folded(String(found.1)), String(found.2))
        let isLife = lifeMarks.contains(name) && ["0", "false"].contains(value.lowercased())
        return isLife || deletedStates.contains(value.lowercased()) ? (name, value) : nil
    }

    private static func namesDeleted(_ parameter: APIOperation.Parameter) -> Bool {
        guard !isSwitch(parameter) else { return false }
        let values = parameter.shape.enumValues.map(\.value)
        let words = values.isEmpty ? [parameter.description ?? ""] : values
        return words.contains { word in
            Words.parts(of: word).contains { ["deleted", "trash", "trashed", "removed"].contains($0) }
        }
    }

    /// Whether a parameter is true or false, though the document may call that a text.
    private static func isSwitch(_ parameter: APIOperation.Parameter) -> Bool {
        let (shape, truths) = (parameter.shape, Set(["true", "false"]))
        return shape.kind == .boolean || shape.enumValues.isEmpty && shape.initial.map(truths.contains) == true
            || shape.enumValues.count == 2 && truths.isSuperset(of: shape.enumValues.map(\.value))
    }

    private static func whole(_ parameter: APIOperation.Parameter) -> String? {
        guard parameter.place == "query" else { return nil }
        let words = Words.parts(of: parameter.name)
        guard !isSwitch(parameter) else {
            return parameter.shape.preset != "true" && shows(parameter, words) ? "true" : nil
        }
        guard !parameter.shape.isList, let last = words.last else { return nil }
        return choice(parameter, isState: states.contains(last)) ?? (states.contains(last) ? told(parameter) : nil)
    }

    /// What is missing for a list that comes with the records of some days only, if its document says so: each installation knows
    /// where to begin.
    static func todo(_ list: APIOperation, since: String?) -> String? {
        let takesAll = list.queries.contains { Words.lastWord(of: $0.name) == "range" && whole($0) != nil }
        for parameter in list.queries where !takesAll && !parameter.isRequired && parameter.name != since {
            guard let said = window(parameter) else { continue }
            return
                "pull.query: { \(parameter.name): … }: without it the list leaves out records of other days (\(said))"
        }
        return nil
    }

    private static let days: Set = ["date", "day", "time", "from", "start", "begin", "since", "after"]
    private static let ends: Set = ["end", "to", "until", "till", "before"]

    /// In the document's words, the days that count if none are sent: `Defaults to today's date`. A list that ends now by default
    /// hides nothing that happened.
    private static func window(_ parameter: APIOperation.Parameter) -> String? {
        let words = Set(Words.parts(of: parameter.name))
        let isDay =
            ["date", "date-time"].contains(parameter.shape.format ?? "") || !days.union(ends).isDisjoint(with: words)
        guard isDay, parameter.shape.preset == nil,
            let said = parameter.description?.firstMatch(of: /(?i)\bdefaults?\b[^.()\n]{0,60}/)?.0,
            ends.isDisjoint(with: words) || said.contains(/\bafter\b/)
        else { return nil }
        // A word boundary of Unicode is not before an apostrophe: `today's`.
        let day = /(?i)\b(?:today|now|(?:current|last|past) (?:date|day|week|month|year|time))(?![a-z])/
        let count = /(?i)\b\d+ (?:day|week|month|year)/
        return said.contains(day) || said.contains(count) ? String(said) : nil
    }

    /// Last words of what says which records come.
    private static let states: Set = [
        "state", "status", "visibility", "visible", "active", "archived", "enabled", "published", "hidden",
    ]
    /// States in which lists hide records. Deleted ones are not among them: they would come back.
    private static let hidden: Set = [
        "archived", "inactive", "disabled", "deactivated", "suspended", "hidden", "closed", "completed", "finished",
        "done", "resolved", "cancelled", "canceled", "expired", "ended", "retired", "obsolete", "discontinued",
        "unpublished", "draft", "drafts",
    ]

    /// One of the values that the document lists, unless it is the usual one.
    private static func choice(_ parameter: APIOperation.Parameter, isState: Bool) -> String? {
        let values = parameter.shape.enumValues.map(\.value)
        guard let whole = values.first(where: { ListFilter.all.contains($0.lowercased()) }) else { return nil }
        if values.count == 1 { return isState || isFilter(parameter) ? whole : nil }
        let usual = parameter.shape.preset ?? usual(parameter.description ?? "")
        guard let usual else { return isState ? whole : nil }
        return usual.lowercased() != whole.lowercased() && values.contains(usual) && (isState || isFilter(parameter))
            ? whole : nil
    }

    /// Whether a parameter says which records come, rather than what of them or in which order.
    private static func isFilter(_ parameter: APIOperation.Parameter) -> Bool {
        ["filter", "scope", "type", "kind", "show", "range"].contains(Words.lastWord(of: parameter.name))
    }

    /// One of the values that only words list: `1=visible, 2=hidden, 3=all (default: 1)`, `open, closed and all. Defaults to open`.
    private static func told(_ parameter: APIOperation.Parameter) -> String? {
        let text = (parameter.description ?? "").lowercased()
        let usual = parameter.shape.preset ?? usual(text)
        guard parameter.shape.enumValues.isEmpty else { return nil }
        if let number = text.firstMatch(of: /\b(\d{1,2}) ?[=:] ?(all|any|both)\b/)?.1 {
            return usual == String(number) ? nil : String(number)
        }
        guard let usual else { return nil }
        let listed = text.firstMatch(of: /[a-z](?:, | or | and | ?\| ?|\/)["'`]?(all|any|both)\b["'`]?(?! [a-z])/)?.1
        return listed.flatMap { ListFilter.all.contains(usual) ? nil : String($0) }
    }

    /// The value that counts if none is sent, in the document's words.
    private static func usual(_ text: String) -> String? {
        text.firstMatch(of: /(?i)\bdefaults?(?: value)?(?: is| to)?[ :=]{1,3}["'`]?([a-z0-9_-]+)/).map { String($0.1) }
    }

    /// Whether a list shows more records with it: `include_archived`, or one that "also returns all archived projects".
    private static func shows(_ parameter: APIOperation.Parameter, _ words: [String]) -> Bool {
        let text = (parameter.description ?? "").lowercased()
        // `all`: "If true, show notifications marked as read."
        if words == ["all"] { return text.contains(/\b(read|closed|inactive|archived|stopped|running)\b/) }
        guard text.firstMatch(of: /\bonly\b/) == nil else { return false }
        if let first = words.first, words.count > 1, ["include", "includes", "with", "show"].contains(first) {
            return words.last.map(hidden.contains) == true
        }
        let also = /\balso (?:returns?|shows?|includes?|lists?) (?:all )?(?:the )?([a-z]+)\b/
        return text.firstMatch(of: also).map { hidden.contains(String($0.1)) } == true
    }
}
