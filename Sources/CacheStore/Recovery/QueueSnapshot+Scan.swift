internal import JSONText

/// Reads a queue and its log from the bare pages of a file.
extension QueueSnapshot {
    /// Nil if the file cannot be read at all. Never complete, because it is unknown which of the rows were deleted.
    init?(scanning path: String, withLog: Bool) {
        guard let scan = PageScan(path: path, withLog: withLog) else { return nil }
        self.init()
        // The log first, because free pages can have many times as many changes that have ended as the queue has.
        scan.forEachRow(columns: 8...10) { row in
            guard case .integer(let at) = row.values[1], case .text(let kind) = row.values[2],
                ChangeLogKind(rawValue: kind) != nil, case .integer(let id) = row.values[6]
            else { return }
            noteStep(of: id, at, kind, detail: row.values[7].text)
        }
        var found: [Int64: ExportedChange] = [:]
        var versions: [Int64: (attempted: Int64, edited: Int, tried: Int)] = [:]
        // The number of columns that the table has had, from the first version to this one.
        scan.forEachRow(columns: 17...23) { row in
            guard let change = ExportedChange(row), change.isSound else { return }
            // Of several versions of a change, the one that was attempted and edited last is the latest. A correction counts
            // as never tried.
            let version = (attempted: change.lastAttemptAt ?? 0, edited: change.lastEdit, tried: change.tried)
            if let other = versions[change.id], other >= version { return }
            versions[change.id] = version
            found[change.id] = hasEnded(change) ? nil : change
        }
        changes = found.values.sorted { $0.id < $1.id }
        lastID = max(changes.last?.id ?? 0, begun.keys.max() ?? 0)
    }
}

extension ExportedChange {
    /// When a field was last edited, in milliseconds of the server's clock; 0 if that is not known.
    fileprivate var lastEdit: Int {
        let times = edited.flatMap { try? JSONText(parsing: $0) }?.members ?? []
        return times.compactMap(\.value.integer).max() ?? 0
    }

    /// Reads the columns in the order of the table `sync_outbox`; nil for a row of another table.
    fileprivate init?(_ row: PageScan.Row) {
        let values = row.values
        guard let entity = values[1].text, let key = values[2].text, let operation = values[3].text,
            let body = values[4].text, let base = values[5].text, let idempotencyKey = values[6].text,
            let state = values[8].text, let attempts = values[9].integer, let tried = values[10].integer,
            let createdAt = values[11].integer
        else { return nil }
        self.init(
            id: row.id, entity: entity, recordKey: key, operation: operation, body: body, base: base,
            edited: values.count > 17 ? values[17].text : nil, idempotencyKey: idempotencyKey,
            orderGroup: values[7].text, state: state, attemptCount: Int(attempts), tried: Int(tried),
            createdAt: createdAt, lastAttemptAt: values[12].integer, nextAttemptAt: values[13].integer,
            errorClass: values[14].text, errorStatus: values[15].integer.map { Int($0) }, errorMessage: values[16].text,
            content: values.count > 19 ? values[19].text : nil, trace: values.count > 22 ? values[22].text : nil,
            sent: values.count > 21 ? values[21].text : nil,
            firstAttemptAt: values.count > 20 ? values[20].integer : nil)
    }
}

extension PageScan.Value {
    fileprivate var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    fileprivate var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }
}
