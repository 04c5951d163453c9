internal import EntitySchema
internal import JSONText

/// The records of one page as they came, with what has to be read of each. Nothing is decoded but the keys.
struct IncomingPage {
    struct Record {
        /// As it came, byte for byte.
        var text: JSONText
        /// Nil when the record cannot be kept: it is no object, or has no usable key.
        var key: String?
        /// The key of a record that is listed but cannot be kept, because it has something that JSON does not have,
        /// or too many combining marks in a row.
        var unreadableKey: String?
        /// The server marks it as deleted.
        var isDeleted: Bool
        /// The value of its change time.
        var changed: JSONText?
        /// The entity's window does not include it.
        var isOutside = false
    }

    private(set) var records: [Record] = []
    /// The fields that the window tests and that some record has as a member, also as null or inside null.
    private(set) var shown: Set<String> = []

    /// `page`: an array. `window`: what the cache keeps; nil for everything. `areDeletions`: each
    /// record only says that it was deleted.
    init(_ page: JSONText, of entity: Entity, window: RecordTest? = nil, areDeletions: Bool = false) {
        let tested = Set(window?.names ?? []).sorted()
        var hidden = tested
        let changedAt = entity.pull?.changedAt
        let deleted = entity.pull?.deleted
        let markPlace = entity.deletionPlace
        page.bytes.withUnsafeBufferPointer { bytes in
            var walk = JSONElementWalk(
                bytes, members: [entity.key, deleted?.name, changedAt] + tested)
            while walk.next() {
                func member(_ index: Int) -> JSONText? {
                    walk.values[index].isEmpty ? .none : .some(page.part(walk.values[index]))
                }
                let key = member(0).flatMap(Entity.key)
                let mark = member(1) ?? markPlace.flatMap { page.part(walk.element).at(path: $0) }
                func value(_ field: String) -> JSONText? {
                    let own = tested.firstIndex(of: field).flatMap { member($0 + 3) }
                    if let own, own.kind != .null { return own }
                    return own ?? entity[field: field]?.source.flatMap { page.part(walk.element).at(path: $0) }
                }
                if !hidden.isEmpty {
                    hidden.removeAll { value($0) != nil || entity.isNull(above: $0, in: page.part(walk.element)) }
                }
                records.append(
                    Record(
                        text: page.part(walk.element), key: key,
                        unreadableKey: key == nil ? Self.unreadable(page.part(walk.element), entity) : nil,
                        isDeleted: key != nil && (areDeletions || deleted?.isSet(by: mark) ?? false),
                        changed: member(2)
                            ?? changedAt.flatMap { entity.value(of: $0, in: page.part(walk.element)) },
                        isOutside: window.map { !$0.holds(value) } ?? false))
            }
        }
        shown = Set(tested).subtracting(hidden)
    }

    /// The key of a record that is a text here because it cannot be read. Nil if the key itself has what JSON does not have: no
    /// record has been kept with such a key. U+FFFD stands for bytes that were not UTF-8.
    private static func unreadable(_ element: JSONText, _ entity: Entity) -> String? {
        guard let text = element.string.map({ Array($0.utf8) }), text.first == UInt8(ascii: "{") else { return nil }
        let repaired = RepairedJSON(text[...])
        guard let record = try? JSONText(repaired?.text ?? text), let key = record[entity.key],
            !((repaired?.numbers ?? []) + (repaired?.bytes ?? [])).contains(where: key.bytes.indices.contains),
            !key.text.unicodeScalars.contains("\u{FFFD}"),
            MarkRun.areShort(inJSON: key.bytes, upTo: MarkRun.longestUpstream)
        else { return nil }
        return Entity.key(key)
    }

    /// Leaves out the records whose field has one of these values.
    mutating func remove(where field: String, isIn values: Set<ExactText>) {
        records.removeAll { record in record.text[field].map { values.contains($0.plain.exact) } ?? false }
    }

    /// The page of some of its records.
    func text(of indices: [Int]) -> JSONText { JSONText.array(indices.map { records[$0].text }) }
}

extension Entity {
    /// Whether the record has null in place of what holds the field's value.
    fileprivate func isNull(above field: String, in record: JSONText) -> Bool {
        guard let source = self[field: field]?.source else { return false }
        var place = record
        for step in JSONPath.steps(source) {
            guard let member = place[String(step)] else { return false }
            if member.kind == .null { return true }
            place = member
        }
        return false
    }
}
