/// Names of Swift, and of the library that generated code stands on.
enum SwiftNames {
    static let rules = NamingRules(
        members: .camel, constants: .camel, nestsTypes: true,
        reservedTypes: library.union(types), reservedNested: library.union(types).union(nested),
        reservedAccessors: [
            "call", "caller", "changes", "conflicts", "daemon", "init", "queue", "records", "reminders", "run",
            "search",
            "self",
        ],
        reservedMembers: [
            "entity", "fields", "hash", "hashValue", "id", "init", "path", "record", "related", "scope", "self", "Type",
            "Protocol",
        ],
        reservedConstants: [
            "init", "known", "none", "self", "some", "Type", "Protocol",
        ])

    /// A name as it is declared, in backticks if it is a word of the language.
    static func declared(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The public types of the library.
    private static let library: Set = [
        "AttemptError", "Batch", "BatchResult", "Change", "ChangeEvent", "ChangeFilter", "ChangeKind", "ChangePosition",
        "ChangeState", "ChangeStream", "Changes", "ClientError", "ClientRequest", "ClientResponse", "ClientTransport",
        "ComparedField", "Condition", "Conflict", "Conflicts", "Content", "ContentRecord", "CreatableRecord", "Daemon",
        "DaemonAddress", "DaemonStatus", "DaemonToken", "Day", "DeletableRecord", "Drift", "EmptyFieldsToWrite",
        "ExportFormat", "FieldScope", "FieldValue", "FilterValue", "Filters", "HeaderField", "HistoryStep",
        "IdempotencyKey", "InputProblem", "Items", "JSONDocument", "JSONFailure", "JSONNumber", "JSONObject",
        "JSONValue", "ListField", "ListedField", "ObjectField", "OpenName", "OperationResult", "OrderedField", "Page",
        "Pages", "Problem", "ProblemCode", "PushState", "QueryItem", "Queue", "QueueQuery", "QueuedChange",
        "ReadOptions", "Record", "RecordFields", "RecordFieldsToWrite", "RecordID", "RecordQuery", "RecordRelations",
        "RecordState", "RecordSync", "Records", "RelationPath", "Reminder", "ReminderState", "Reminders",
        "RepairminderClient", "ResponseBody", "RetryPolicy", "SealedField", "SearchHit", "SocketTransport",
        "SortDirection", "SyncRequest", "SyncState", "TextField", "TypedQuery", "TypedRecord", "TypedRecords",
        "UpdatableRecord", "UploadableRecord", "ValueField", "WriteOptions", "WriteResult", "Written",
    ]

    /// Types of Swift and Foundation that programs name in passing.
    private static let types: Set = [
        "Any", "AnyObject", "Array", "Bool", "Bundle", "Calendar", "Character", "Clock", "Codable", "Collection",
        "CommandLine", "Comparable", "Data", "Date", "DateInterval", "Decimal", "Dictionary", "Double", "Duration",
        "Error",
        "File", "FileManager", "Float", "Foundation", "Hashable", "Identifiable", "IndexPath", "Int", "KeyPath",
        "Locale",
        "Measurement", "Mirror", "Never", "Notification", "Operation", "Optional", "Process", "Protocol", "Range",
        "Regex",
        "Result", "Scanner", "Self", "Sendable", "Sequence", "Set", "String", "Substring", "Swift", "Task", "Thread",
        "Timer", "Type", "Unicode", "Unit", "URL", "UUID", "Void",
    ]

    /// The parts of a record's type.
    private static let nested: Set = ["Fields", "ID", "New", "Relations"]

    private static let keywords: Set = [
        "associatedtype", "as", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "inout",
        "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var", "where", "while",
    ]
}
