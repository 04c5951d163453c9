internal import CacheStore
internal import EntitySchema
internal import SQLiteStore
internal import SocketServer

/// The conditions of a write (RFC 9110, 13.1): the versions that it expects (`If-Match`), and those that it must not
/// find (`If-None-Match`; `*` for a record that must be new).
struct WriteConditions: Sendable {
    let expected: ExpectedVersion
    /// With `If-Match`, even with `*`, nothing is created.
    let mustExist: Bool
    /// Nil without the field.
    private let unwanted: ExpectedVersion?

    /// Nil expects nothing.
    init(expected: ExpectedVersion? = nil) {
        self.expected = expected ?? .any
        mustExist = expected != nil
        unwanted = nil
    }

    init(_ request: Request) throws(Problem) {
        expected = try EntityTag.expected(by: request)
        mustExist = !request.headers[all: "If-Match"].isEmpty
        unwanted = try EntityTag.unwanted(by: request)
    }

    /// Throws `.changed` if the record is at a version that the request must not find.
    func check(_ entity: Entity, _ key: String, _ transaction: LocalTransaction) throws {
        guard let unwanted, let shown = try transaction.shown(entity.name, key: key) else { return }
        let isFound =
            switch unwanted {
            case .any: true
            case .oneOf(let versions): versions.contains(shown.version.record)
            }
        guard !isFound else {
            throw CacheError.changed("\(entity.name)/\(key) is there, at a version that If-None-Match excludes")
        }
    }

    /// The same for the content of a record. `tag` reads the content's, nil if there is none; it is called only for a
    /// request with conditions.
    static func check(content tag: () throws -> String?, of request: Request) throws {
        let conditions = request.headers[all: "If-Match"] + request.headers[all: "If-None-Match"]
        guard !conditions.isEmpty else { return }
        let tag = try tag()
        try EntityTag.requireMatch(tag, of: request)
        guard let tag, EntityTag.isKnown(tag, to: request) else { return }
        throw CacheError.changed("the record has this content, or any, and If-None-Match excludes it")
    }

    /// For a write to what has no versions: no tag can match, and something is there.
    static func refuse(_ request: Request) throws(Problem) {
        let isUnmet: Bool =
            switch try EntityTag.expected(by: request) {
            case .any: false
            case .oneOf: true
            }
        let unwanted = try EntityTag.unwanted(by: request)
        if isUnmet || unwanted == .any {
            throw Problem(.versionMismatch, "what is at this address has no versions; leave the condition out")
        }
    }
}
