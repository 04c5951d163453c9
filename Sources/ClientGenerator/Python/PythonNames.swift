/// Names of Python, and of the runtime that generated code begins with.
enum PythonNames {
    static let rules = NamingRules(
        members: .snake, constants: .constant, nestsTypes: false,
        reservedTypes: [
            "Answer", "Any", "AttemptError", "Callable", "Change", "ClassVar", "Condition", "Conflict", "Conflicts",
            "Connection", "ContentRecords", "CreatableRecords", "Daemon", "DaemonStatus", "DeletableRecords",
            "Ellipsis", "Exception", "False", "Generic", "Hook", "Hooks", "I", "Interrupted", "Iterator", "JSON",
            "ListField", "ListedField", "Literal", "LocalAPI", "Mapping", "N", "NewType", "None", "NotImplementedError",
            "OSError", "ObjectField", "Optional", "Page", "Problem", "Queue", "QueueCount", "QueuedChange", "R",
            "Record", "Records", "Relation", "Reminder", "Reminders", "RepairminderClient", "SealedField", "Sequence",
            "TextField", "True", "TypeError", "TypeVar", "TypedDict", "U", "UnicodeError", "Union", "Unreachable",
            "UpdatableRecords", "UploadableRecords", "V", "ValueError", "ValueField", "Written",
        ],
        reservedNested: [],
        reservedAccessors: keywords.union([
            "call", "conflicts", "daemon", "follow", "hooks", "position", "property", "queue", "reminders",
        ]),
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
