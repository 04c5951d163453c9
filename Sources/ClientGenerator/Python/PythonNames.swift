/// Names of Python, and of the runtime that generated code begins with.
enum PythonNames {
    static let rules = NamingRules(
        members: .snake, constants: .constant, nestsTypes: false,
        reservedTypes: [
            "Answer", "Any", "Callable", "Change", "ClassVar", "Condition", "Connection", "ContentRecords",
            "CreatableRecords",
            "DeletableRecords", "Ellipsis", "Exception", "False", "Generic", "I", "Interrupted", "Iterator", "JSON",
            "ListField",
            "ListedField", "Mapping", "N", "NewType", "None", "NotImplementedError", "OSError", "ObjectField",
            "Optional", "Page",
            "Problem", "R", "Record", "Records", "Relation", "RepairminderClient", "SealedField", "Sequence",
            "TextField", "True",
            "TypeError", "TypeVar", "TypedDict", "U", "UnicodeError", "Union", "UpdatableRecords", "UploadableRecords",
            "Unreachable", "V", "ValueError", "ValueField", "Written",
        ],
        reservedNested: [], reservedAccessors: keywords.union(["call", "follow", "position", "property"]),
        reservedMembers: keywords.union([
            "bool", "datetime", "decimal", "dict", "fields", "id", "int", "json", "label_of", "list", "object", "path",
            "property",
            "relations", "self", "str", "sync_state", "tag",
        ]),
        reservedConstants: [], typesOfRecord: ["Fields", "Relations", "New", "Changes", "Records"])

    /// Whether a class of Python can have an annotation for a member of this name.
    static func isPlain(_ name: String) -> Bool { !keywords.contains(name) && !name.hasPrefix("__") }

    private static let keywords: Set = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif",
        "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
        "or",
        "pass", "raise", "return", "try", "while", "with", "yield",
    ]
}
