internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Prepares children that came with their parents for storage: each gets its parent's key.
struct ChildReader {
    let parent: Entity
    let detail: PullPlan.Detail
    /// Of one parent, in a list of its own.
    var mostChildren = 100_000
    /// At how many children their lists may be cut; see `Puller.noteParts`.
    var cut: Int?
    /// A list of more bytes is put back, to be read later and alone; nil puts none back.
    var mostBytesAside: Int?

    private static let mostBytes = 32 << 20
    /// Of the keys that the children in one answer are given, in all: as many as the answer itself may have. Without this, a
    /// long key and many short children would take hundreds of times the memory of their answer.
    private static let mostKeyBytes = 8 << 20

    /// The children of one parent.
    struct Family: Sendable {
        /// The parent's key as JSON.
        var key: JSONText
        var children: [JSONText]
        /// False if there may be more children.
        var isComplete: Bool
        /// The greatest age of the pages that a gateway had kept; nil if there was none.
        var age: Duration?
        /// It is too large to be read beside others, and must be read again.
        var isPutBack = false
        /// Why children may be missing, in words; nil if nothing suggests it.
        var lack: String?

        /// Once each child has the key.
        var bytes: Int { children.reduce(0) { $0 + $1.bytes.count + key.bytes.count } }
    }

    /// The children embedded in the records of a page, and the problem of the first record whose children cannot be
    /// read. A record without a list of children keeps those it has; a record marked as deleted has none, and one without a
    /// usable key is no parent.
    func embedded(in records: JSONText) -> (families: [Family], problem: String?) {
        var families: [Family] = []
        var problem: String?
        var room = Self.mostKeyBytes
        for record in records.elements {
            guard let key = record[parent.key], Entity.key(key) != nil, !parent.isDeleted(record),
                let list = detail.list.found(in: record)
            else { continue }
            guard list.kind == .array else {
                problem = problem ?? noList(in: record)
                continue
            }
            let children = detail.identified(list.elements, under: key)
            room -= children.count * key.bytes.count
            guard room >= 0 else {
                problem = problem ?? tooMany(in: record)
                continue
            }
            families.append(Family(key: key, children: children, isComplete: isWhole(list, in: record)))
        }
        return (families, problem)
    }

    /// Whether nothing suggests that a record has more children than it embeds.
    func isWhole(_ list: JSONText, in record: JSONText) -> Bool {
        !mayBeCut(at: list.elementCount) && !ListDoubt.isPart(list, at: detail.list.records, in: record)
    }

    /// Whether lists of so many may be cut. Where some are, the upstream may cut at another usual number from now on, or already
    /// does on some of its servers.
    private func mayBeCut(at count: Int) -> Bool { cut.map { count == $0 || ListDoubt.isLimit(count) } ?? false }

    /// Which record says that it embeds only a part of its children, in words; nil if none of these does.
    func part(of families: [Family]) -> String? {
        families.first { !$0.isComplete && !mayBeCut(at: $0.children.count) }.map { family in
            """
            \(parent.name)/\(family.key.plain.cut(toBytes: 100)) says that it has more than the \(family.children.count.grouped) \
            that it shows; let pull.detail of \(parent.name) read them by a path
            """
        }
    }

    /// Why lists that end at so many children are not believed.
    static func words(cut: Int, _ children: String, of parent: Entity) -> String {
        """
        several records of \(parent.name) show exactly \(cut.grouped) \(children), and none shows more, so these lists may be cut; \
        those that such a list lacks stay; let pull.detail of \(parent.name) read all of them (path, pagination)
        """
    }

    private func noList(in record: JSONText) -> String {
        """
        \(parent.name)/\(parent.shownKey(of: record)) holds no list at \(detail.list.records.description); check pull.detail of \
        \(parent.name) in the schema
        """
    }

    private func tooMany(in record: JSONText) -> String {
        """
        \(parent.name)/\(parent.shownKey(of: record)) and the records before it in one answer hold more \(detail.entity) than can \
        be given such long keys, so those it has stay as they are; set a smaller page_size of \(parent.name) in the schema
        """
    }

    /// Nothing without families. A family is not complete if one of its children may be any.
    func pulled(_ families: [Family], deletes: PulledChildren.Deletes) -> [PulledChildren] {
        guard let by = detail.by, !families.isEmpty else { return [] }
        let children = families.map { family in family.children.map { child(of: family.key, $0, by) } }
        let complete = zip(families, children).filter { $0.isComplete && !$1.contains(where: isNameless) }
        return [
            PulledChildren(
                entity: detail.entity, by: by, records: .array(children.flatMap(\.self)),
                parents: families.map(\.key.plain), complete: complete.map(\.0.key.plain), deletes: deletes)
        ]
    }

    /// Whether it has no usable key, like a null that stands for a child. A child with `NaN` is a text here, and its key is known.
    private func isNameless(_ child: JSONText) -> Bool {
        guard let key = detail.key, child.kind != .string else { return false }
        return child[key].flatMap(Entity.key) == nil
    }

    /// Reads all pages of a parent's children; once more if the list disagrees with itself, since a row may have slid
    /// from one page to another meanwhile.
    func family(
        at path: String, under key: JSONText, from upstream: any Upstream
    ) async throws(UpstreamError) -> Family {
        let first = try await reading(of: path, from: upstream, under: key)
        var family = Family(
            key: key, children: first.children, isComplete: first.isComplete, age: first.list.age,
            isPutBack: first.isPutBack, lack: first.lack)
        // Both readings are in memory.
        guard first.isWhole, !first.isComplete, first.bytes <= Self.mostBytes / 2 else { return family }
        let second = try await reading(of: path, from: upstream, under: key)
        family.isPutBack = second.isPutBack
        family.children += second.children.filter { !first.keys.contains(self.key($0).exact) }
        family.isComplete =
            second.isComplete || second.isWhole && second.list.total == nil && second.keys == first.keys
        family.age = [first.list.age, second.list.age].compactMap(\.self).max()
        return family
    }

    /// The children of a parent as they are now: from their list, or embedded in the parent's record. Not complete if they cannot
    /// be asked for.
    func family(of record: JSONText, key: JSONText, from upstream: any Upstream) async throws -> Family {
        let unknown = Family(key: key, children: [], isComplete: false)
        if let template = detail.path {
            guard let path = parent.path(template, of: record) else { return unknown }
            return try await family(at: path, under: key, from: upstream)
        }
        guard let record = try await upstream.record(of: parent, known: record)?.record,
            let list = detail.list.found(in: record)
        else { return unknown }
        return Family(
            key: key, children: detail.identified(list.elements, under: key),
            isComplete: list.kind == .array && isWhole(list, in: record))
    }

    private struct Reading {
        var list: ListReading
        var children: [JSONText] = []
        /// As `Family.bytes`.
        var bytes = 0
        var isPutBack = false
        var keys: Set<ExactText> = []
        /// As `Family.lack`.
        var lack: String?

        var isWhole: Bool { !isPutBack && lack == nil }

        /// It has as many children as it says, or none twice.
        var isComplete: Bool { isWhole && keys.count == list.total ?? children.count }
    }

    /// `key`: the parent's, which each child is given.
    private func reading(
        of path: String, from upstream: any Upstream, under key: JSONText
    ) async throws(UpstreamError) -> Reading {
        var reading = Reading(list: ListReading(detail.list, at: path, key: detail.key))
        repeat {
            let page = try await upstream.page(
                PageRequest(entity: detail.entity, path: path, list: detail.list, position: reading.list.position))
            try reading.list.add(page)
            reading.children += detail.identified(page.records.elements, under: key)
            reading.bytes += page.records.bytes.count + page.count * key.bytes.count
            if let mostBytesAside, reading.bytes > mostBytesAside {
                return Reading(list: reading.list, isPutBack: true)
            }
            guard reading.bytes <= Self.mostBytes, reading.children.count <= mostChildren else {
                throw .malformed(
                    "\(path) answered more than \(mostChildren.grouped) records, or \(Self.mostBytes >> 20) MiB, for one of "
                        + "\(parent.name); check pagination of pull.detail in the schema")
            }
        } while reading.list.position != nil
        reading.keys = reading.children.map(self.key).exactSet
        reading.lack = reading.list.lack ?? cutWords(of: reading.list)
        return reading
    }

    private func cutWords(of list: ListReading) -> String? {
        guard mayBeCut(at: list.records), list.guess != nil else { return nil }
        return Self.words(cut: list.records, detail.entity, of: parent)
    }

    private func key(_ child: JSONText) -> String { detail.key.flatMap { child[$0]?.plain } ?? child.text }

    /// A value that is not an object is returned unchanged and set aside later.
    func child(of key: JSONText, _ child: JSONText, _ by: String) -> JSONText {
        guard child.kind == .object, child[by] == nil || child[by]?.kind == .null else { return child }
        return child.setting(by, to: key)
    }
}
