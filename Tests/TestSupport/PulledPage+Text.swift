package import CacheStore
internal import JSONText

/// Pages from the text of an array, as tests write them.
extension PulledPage {
    package init(
        entity: String, records: String, position: Int64 = .max, cursor: PullCursor? = nil, version: String? = nil,
        watermark: String? = nil, knownUpTo: Int64? = nil, children: [PulledChildren] = [], details: [Detail] = [],
        view: RecordView = .list
    ) {
        self.init(
            entity: entity, records: JSONText(validated: Array(records.utf8)), position: position, cursor: cursor,
            version: version, watermark: watermark, knownUpTo: knownUpTo, children: children, details: details,
            view: view)
    }
}

extension PulledChildren {
    package init(
        entity: String, by: String, records: String, parents: [String], complete: [String], deletes: Deletes = .all
    ) {
        self.init(
            entity: entity, by: by, records: JSONText(validated: Array(records.utf8)), parents: parents,
            complete: complete, deletes: deletes)
    }
}
