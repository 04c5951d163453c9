/// How much of a record an update sends beside what changed, by what the document says of the call.
struct UpdateExtent {
    let operation: APIOperation
    let found: BodyGuess.Found
    /// The call finds the record by the key in its body or in a parameter.
    let keyed: KeyedCalls.Call?
    let key: String
    /// What the document calls the record where it is shown.
    let records: [String]
    /// A record can be read by its key.
    let isReadable: Bool

    /// Members that say which version of a record is changed, without which an update may be refused.
    static let versions: Set = ["version", "lockversion", "rowversion", "synctoken", "etag", "revision"]

    /// What an update sends beside its fields, and what it may clear.
    func complete(_ route: inout DraftRoute) {
        let needed = neededBeside
        route.isPartial = isPartial
        route.isWhole = takesWhole || !needed.isEmpty && isRepeatable
        route.keyMember = keyMember
        let unsent = Self.listed(found.unsent)
        if operation.method == "PUT" || takesWhole, !route.isPartial, !unsent.isEmpty {
            route.reason = "it also takes \(unsent), and an edit sends none of it: check that nothing is cleared"
        } else if !needed.isEmpty, !takesWhole {
            let names = Self.listed(needed.map(\.wireName))
            route.reason =
                route.isWhole
                ? "its body needs \(names), so an edit sends all fields"
                : "its body needs \(names), which an edit of another field does not send: check that this is accepted"
        }
    }

    private static func listed(_ names: [String]) -> String {
        names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
    }

    /// The key as the body has it.
    private var ownKey: String? { found.fields?.first { $0.name == key }?.wireName }

    /// Some upstreams find the record by it, and refuse the change without it.
    private var keyMember: String? {
        if case .resource = found.body { return nil }
        guard let ownKey else { return nil }
        let isNeeded = takesWhole || keyed != nil && keyed?.parameter == nil
        return operation.method == "PUT" || isNeeded || found.required.contains(ownKey) ? ownKey : nil
    }

    // MARK: All of it

    /// Whether a POST that changes a record may clear what an edit leaves out: it finds the record by the key in its body
    /// or in a parameter, or takes what the document calls the record.
    private var takesWhole: Bool { operation.method == "POST" && !isSaidToBePartial && (keyed != nil || isShown) }

    /// What the body of a PATCH must have, though an edit sends only the fields that it changes. Where the body is the
    /// record as it is shown, `required` says only that a record always has the members.
    private var neededBeside: [DraftField] {
        let fields = found.fields?.filter { $0.name != key } ?? []
        guard operation.method != "PUT", fields.count > 1, !isShown, found.encoding != BodyGuess.mergePatch,
            !isSaidToBePartial
        else { return [] }
        return fields.filter { found.required.contains($0.wireName) }
    }

    /// Whether a call takes what the document calls the record.
    private var isShown: Bool {
        operation.bodies.first(where: \.isJSON)?.shape.name.map(records.contains) == true
    }

    /// Whether an edit may send all fields as the upstream shows them. An element of a list that is sent again may be
    /// made twice.
    private var isRepeatable: Bool {
        if case .resource = found.body { return false }
        let isPlain = found.fields?.allSatisfy { field in
            ![.simple("list"), .simple("object")].contains(field.kind) && !field.isSecret && !field.isWriteOnly
        }
        return isPlain == true && isReadable
    }

    // MARK: A part of it

    /// Whether a PUT changes only what it names, and does not replace the record.
    private var isPartial: Bool {
        guard operation.method == "PUT", found.required.subtracting([ownKey].compactMap(\.self)).isEmpty,
            found.fields?.contains(where: { Self.versions.contains(Words.folded($0.wireName)) }) != true
        else { return false }
        return isSaidToBePartial
    }

    private var isSaidToBePartial: Bool { Self.isPartial(operation.words.lowercased()) }

    /// Whether a text says that an update leaves what it does not name. What one field does when it is left out says nothing about
    /// the others.
    private static func isPartial(_ text: String) -> Bool {
        // "Any unspecified fields will remain unchanged."
        let left = /(unspecified|omitted) (fields|attributes|properties|parameters)[^.]{0,40}(unchanged|untouched)/
        // "Only the fields provided will be updated."
        let given = /only (the )?(fields|attributes|properties|parameters) (you )?(provide|specif|sen[dt]|include|pass)/
        // "Fields that are not sent stay unchanged."
        let missing = /(fields|attributes|properties|parameters) (that are )?(not [a-z]+|omitted)[^.]{0,40}unchanged/
        // "This call supports partial updates."
        let named = /supports (partial|sparse) updates?/
        let isGiven = text.firstMatch(of: given).map { match in
            text[match.range.upperBound...].prefix { $0 != "." }.contains(/(updat|chang|modifi)ed/)
        }
        return isGiven == true || text.contains(left) || text.contains(missing) || text.contains(named)
    }
}
