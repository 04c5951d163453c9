/// A list of records that the document describes, with the other calls for its records.
struct Collection: Sendable {
    var list: APIOperation
    var answer: ListAnswer
    /// The path of one record; nil if there is none.
    var recordPath: PathPattern?
    /// There is a path of one record, and what it names is unclear: a TODO has it.
    var hasUnclearRecord = false
    /// The calls at that path, by method.
    var recordCalls: [String: APIOperation] = [:]
    /// The POST that creates one.
    var creation: APIOperation?
    /// Without it: the calls that create one below a record of another list.
    var creationsBelow: [CreationBelow] = []
    /// The calls that name the record in what they send.
    var keyed = KeyedCalls.Found()
    /// The member that identifies a record.
    var key: Guess<String>
    /// Where the text is that ends with the key, if the records have it only there.
    var keyLink: String?
    var name = ""
    /// What its calls leave open, each with the key to set.
    var todos: [String] = []

    var path: PathPattern { list.path }
    var single: APIOperation? { recordCalls["GET"] ?? keyed.read?.call }
    /// The calls that may create or change a record.
    var writes: [APIOperation] {
        ([creation, keyed.update?.call] + ["PATCH", "PUT", "POST"].map { recordCalls[$0] }).compactMap(\.self)
    }

    /// The parameters that the list needs and the document gives no value for: it answers only what they ask for.
    var asked: [APIOperation.Parameter] { list.queries.filter { $0.isRequired && $0.shape.preset == nil } }

    /// The path without what only says that it is a list.
    var base: [String] { Self.base(of: path) }
    /// The form of that.
    var baseForm: String { PathPattern.form(base) }

    /// The ends of paths that only say that they are lists.
    static let listWords: Set = ["all", "list", "listall", "listcreate", "getall", "pagination", "paginated", "scroll"]
    /// Of these, those that say that it comes in pages.
    static let pageWords: Set = ["pagination", "paginated", "scroll"]

    static func base(of path: PathPattern) -> [String] {
        let isWord =
            (path.findsParent || listWords.contains(Words.folded(path.lastSegment))) && path.segments.count > 1
        return PathPattern.withoutJSON(isWord ? Array(path.segments.dropLast()) : path.segments)
    }

    /// The path of the list whose records the last parameter of this one's path names.
    var parentForm: String? {
        guard let place = path.segments.lastIndex(where: { $0.contains("{") }), place > 0 else { return nil }
        return PathPattern.form(path.segments[..<place])
    }
}

extension APIOperation {
    private static let creating: Set = ["create", "add", "new", "post", "insert", "register", "upsert", "invite"]

    /// Whether it is described as a call that creates something.
    var isCreation: Bool { verb(among: Self.creating) != nil }
    private static let other: Set = [
        "get", "list", "search", "delete", "update", "fetch", "retrieve", "find", "query", "remove", "count", "export",
        "download", "check", "validate",
    ]
    /// What is done to something that exists, unless the list is called so: `POST /captures` makes a capture.
    private static let acts: Set = ["capture", "void", "cancel", "close", "complete", "confirm", "revoke"]
    /// The verb by which it is described, if that is no creation.
    var otherDeed: String? {
        if isCreation || words.lowercased().contains("create") { return nil }
        let made = Words.singular(path.lastSegment.lowercased())
        return verb(among: Self.other) ?? verb(among: Self.acts.subtracting([made]))
    }
    /// Words for a PUT that stores what it is sent, new or not.
    private static let storing: Set = ["upsert", "replace", "set", "save", "reset"]

    /// Whether it creates and never changes: by its words, or because a PUT is only ever answered with 201.
    var isOnlyCreation: Bool {
        if verb(among: Self.creating.subtracting(["upsert"])) != nil { return true }
        return method == "PUT" && isAnsweredCreated && verb(among: Self.storing.union(ActionCalls.changes)) == nil
    }

    /// Whether a call to a list creates one record: a POST; or a PUT that is described so, as a PUT of several would replace
    /// them all.
    var createsOne: Bool {
        method == "POST" || method == "PUT" && isOnlyCreation && !bodies.contains(where: \.shape.isList)
    }

    /// Which of these it is described as doing, by the first words of its summary and its id, or by the last name of a GET:
    /// `Creates an order` and `createOrder` do `create`. A plural in the path is a name: `checks_add` does `add`.
    func verb(among names: Set<String>) -> String? {
        let plurals = Set(path.segments.map(Words.folded).filter { $0 != Words.singular($0) })
        let words = titles.compactMap { title -> String? in
            let all = Words.parts(of: title)
            let first = all.first.map(plurals.contains) == true ? all.dropFirst().first : all.first
            return first.map(Words.singular)
        }
        let last = method == "GET" ? [path.lastSegment.lowercased()] : []
        return (words + last).first(where: names.contains)
    }
}

/// A call that creates a record of a list below a record of another: `POST /projects/{id}/tasks` for `/tasks`.
struct CreationBelow: Sendable {
    var call: APIOperation
    /// The path of the other list.
    var parent: PathPattern
}
