internal import CacheStore
internal import EntitySchema
internal import JSONText

/// The body of `POST /v1/_batch`, checked as far as that needs no records.
struct BatchRequest: Sendable {
    /// The most operations that one request may have.
    static let most = 1000
    /// Of the mistakes of all operations together, more are not listed.
    static let mostMistakes = 100

    /// All operations are done, or none.
    var isAtomic: Bool
    var operations: [BatchOperation]

    /// Throws one problem with all mistakes, each with a pointer that names its operation.
    init(_ body: JSONText, _ schema: EntitySchema) throws(Problem) {
        var reader = BatchReader(schema: schema)
        // Each look for a member would be a walk over all operations.
        let members = body.members
        func value(_ name: String) -> JSONText? { members.first { $0.key == name }?.value }
        reader.requireKnown(members.map(\.key), among: ["atomic", "operations"], at: "")
        let atomic = value("atomic")
        if let atomic, atomic.kind != .boolean { reader.note("atomic", "expected true or false", at: "") }
        isAtomic = atomic?.boolean ?? true
        let operations = value("operations").flatMap { $0.kind == .array ? $0.elements : nil }
        if let operations, operations.count <= Self.most {
            self.operations = operations.compactMap { reader.operation($0) }
        } else {
            self.operations = []
            let count = operations.map { ", got \($0.count)" } ?? ""
            reader.note("operations", "expected a list of at most \(Self.most) operations\(count)", at: "")
        }
        try reader.throwAny()
    }
}

/// One operation of a batch.
struct BatchOperation: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case create, update, replace, delete

        /// The members that such an operation may have.
        var members: [String] {
            switch self {
            case .create: ["operation", "entity", "lid", "body"]
            case .update: ["operation", "entity", "id", "body", "merge", "if_match"]
            case .replace: ["operation", "entity", "id", "body", "if_match"]
            case .delete: ["operation", "entity", "id", "if_match"]
            }
        }
    }

    /// A record that is written or referred to.
    enum Target: Sendable {
        case key(String)
        /// The one that an earlier operation creates.
        case made(by: Int)
    }

    var kind: Kind
    /// Its name; the schema may not have it.
    var entity: String
    /// The record; nil for a creation.
    var target: Target?
    var body: JSONText
    /// The fields of the body that refer to records of the batch, and the operations that create these.
    var references: [(field: String, creation: Int)]
    var merges: Bool
    /// Nil without a condition.
    var expected: ExpectedVersion?
}
