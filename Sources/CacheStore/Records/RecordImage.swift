internal import EntitySchema
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// One row of a record table, as far as readers see it.
struct RecordImage {
    var pk: Int64 = 0
    var key: String
    /// What the server last said.
    var remote: JSONText? { didSet { patched = .none } }
    /// The fields that queued changes set; nil without queued changes.
    var local: JSONText? { didSet { patched = .none } }
    /// What readers see, where `remote` with `local` over it is something else.
    var whole: JSONText?
    var derived: JSONText?
    var isDeleted = false
    var isDisplaced = false
    /// `local` over `remote`, if that is known already.
    private var patched: JSONText.Laid?

    /// What readers see of it unless it is hidden; nil for a row that has nothing yet.
    var shown: JSONText? {
        if let whole { return whole }
        guard let remote, let local else { return remote }
        return patched?.result ?? remote.setting(local)
    }

    /// The same as the database gives it to readers; nil if that is not known: `json_patch` leaves out space.
    var asRead: JSONText? {
        if let whole { return whole }
        guard local != nil else { return remote }
        return patched?.isCompact == true ? patched?.result : nil
    }

    /// About how many bytes it takes.
    var size: Int {
        (remote?.bytes.count ?? 0) + (local?.bytes.count ?? 0) + (whole?.bytes.count ?? 0) + (derived?.bytes.count ?? 0)
    }

    /// Whether readers see exactly what the server said.
    var isPlain: Bool { local == nil && whole == nil && !isDeleted }

    /// The members that readers see set over what they saw in `old`, none of them null or an object; nil if more differs, or
    /// that is not known.
    func patch(of old: RecordImage) -> JSONText? { whole == nil && old.isPlain && remote == old.remote ? local : nil }

    /// Stores `shown` as what readers see, in as little as that takes.
    mutating func show(_ shown: JSONText?) {
        whole = nil
        if let shown, shown != self.shown || !isPatch { whole = shown }
    }

    /// The same for what is nothing but the local fields over the server's version.
    mutating func show(_ laid: JSONText.Laid) {
        whole = laid.isMergePatch ? .none : .some(laid.result)
        patched = laid
    }

    /// Whether SQLite's `json_patch` sets the local fields: it would remove a member for a null, and merge objects.
    private var isPatch: Bool {
        guard let local else { return true }
        guard let remote else { return false }
        return remote.laying(local).isMergePatch
    }
}

extension RecordImage {
    init(key: String, remote: JSONText?) {
        self.key = key
        self.remote = remote
    }

    /// The columns that `init(reading:)` takes, in their order.
    static let columns = "_pk, _key, _remote, _local, _document, _derived, _deleted, _displaced"
    static let columnCount: Int32 = 8
    static let remoteColumn: Int32 = 2

    init(reading statement: OpaquePointer) {
        pk = sqlite3_column_int64(statement, 0)
        key = sqlite3_column_text(statement, 1).map { String(cString: $0) } ?? ""
        remote = JSONText(column: 2, of: statement)
        local = JSONText(column: 3, of: statement)
        whole = JSONText(column: 4, of: statement)
        derived = JSONText(column: 5, of: statement)
        isDeleted = sqlite3_column_int(statement, 6) != 0
        isDisplaced = sqlite3_column_int(statement, 7) != 0
    }
}

extension BoundStatement {
    /// The records of the first rows that fit into memory together, at least one, and whether those are all the rows. A
    /// large record from the server takes about 20 MiB.
    func images() throws -> (images: [RecordImage], areAll: Bool) {
        let most = 8 << 20
        var size = 0
        let images = try all(until: { size >= most }) { row in
            let image = RecordImage(reading: row)
            size += image.size
            return image
        }
        return (images, size < most)
    }
}
