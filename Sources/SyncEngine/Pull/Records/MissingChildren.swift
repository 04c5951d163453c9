internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// Decides what becomes of children that their parent's list lacked: the parent's children are read once more, and those
/// that are missing again are deleted. What a gateway repeats is no second reading.
struct MissingChildren {
    let store: CacheStore
    let upstream: any Upstream
    let parent: Entity
    let detail: PullPlan.Detail
    let now: @Sendable () -> Timestamp

    private var reader: ChildReader { store.childReader(parent, detail) }

    struct Outcome {
        var deleted = 0
        /// The children that could not be confirmed.
        var left: [String] = []
        /// The greatest age of the answers that a gateway had kept.
        var age = Duration.zero
    }

    private enum Confirmation {
        case deleted(Int)
        /// It could not be asked for, or the answer is as old as this.
        case open(age: Duration = .zero)
    }

    /// `missing`: the keys of parents → the keys of their missing children. At most a hundred parents are asked.
    func confirm(_ missing: [ExactText: [String]]) async throws -> Outcome {
        var outcome = Outcome()
        for (index, (key, children)) in missing.sorted(by: { $0.key < $1.key }).enumerated() {
            switch index < AbsenceJudge.most ? try await confirm(children, of: key.text) : .open() {
            case .deleted(let count): outcome.deleted += count
            case .open(let age):
                outcome.left += children
                outcome.age = max(outcome.age, age)
            }
        }
        return outcome
    }

    private func confirm(_ children: [String], of key: String) async throws -> Confirmation {
        guard let record = try store.remote(of: parent.name, key: key) else { return .open() }
        let position = try store.position()
        let family: ChildReader.Family
        do {
            guard let read = try await self.family(of: record) else { return .open() }
            family = read
        } catch let error as UpstreamError where !error.concernsWholeUpstream {
            return .open()
        }
        if let age = family.age { return .open(age: age) }
        guard var pulled = reader.pulled([family], deletes: .only(children.exactSet)).first, !pulled.complete.isEmpty
        else { return .open() }
        pulled.complete = [key]
        let page = PulledPage(entity: parent.name, records: .array([]), position: position, children: [pulled])
        return .deleted(try await store.apply(page, at: now()).children[detail.entity]?.deleted ?? 0)
    }

    /// The parent's children as they are now; nil if that cannot be asked, or the answer may be another's: an empty list
    /// counts only if the parent itself is there, and other parents list children.
    private func family(of record: JSONText) async throws -> ChildReader.Family? {
        let key = record[parent.key] ?? .null
        let family = try await reader.family(of: record, key: key, from: upstream)
        guard family.isComplete else { return nil }
        guard detail.path != nil, family.children.isEmpty else { return family }
        guard try await upstream.record(of: parent, known: record) != nil else { return nil }
        let witness = FamilyWitness(store: store, upstream: upstream, parent: parent, detail: detail)
        return try await witness.isWell(than: key) ? family : nil
    }
}

/// The longest of the lists of children that a pull has read.
struct LongestLists: Equatable {
    private(set) var children = 0
    /// The keys of the parents that show so many.
    private(set) var parents: Set<ExactText> = []

    mutating func note(_ family: ChildReader.Family) {
        let count = family.children.count
        if count > children { self = LongestLists(children: count) }
        if count == children { parents.insert(family.key.plain.exact) }
    }
}

/// Decides about the missing children of a whole pull, and stores what is held.
extension Puller {
    /// Notes as drift why parents may have more children than they show, and after a full pull that none does. A list of their
    /// own would bring these, and says itself why it is not believed.
    ///
    /// A list that shows only the newest of its records lacks the others as if they were deleted, and alone does not show that it
    /// is cut. Together they do: several end at the same usual number, and none is longer. If the cache has longer ones, several
    /// must have become that short at once. A longer list ends the doubt, unless it seems to be cut as well, at another number.
    func noteParts(
        _ summary: PullSummary, of detail: PullPlan.Detail, _ parent: Entity, isFull: Bool
    ) async throws {
        let known = store.cut(of: detail.entity, in: parent)
        var cut = known
        if let longest = summary.longest[detail.entity] {
            let count = longest.children
            let lacking = longest.parents.count { summary.children[detail.entity]?.missing[$0] != nil }
            if let known, count > known { cut = lacking > 0 || ListDoubt.isLimit(count) ? count : nil }
            if let by = detail.by, ListDoubt.isLimit(count),
                try lacking >= 3 || cut == nil && store.endTogether(at: count, detail.entity, by: by)
            {
                cut = count
            }
        }
        if cut != known {
            let setting = CacheStore.cutSetting(detail.entity, in: parent)
            try await store.setSetting(setting, to: cut.map { "\($0)" } ?? "")
        }
        // A list of their own is doubted when it is read, and not if its pages say that it is whole.
        let doubted = detail.path == nil ? cut : nil
        let words =
            summary.parts[detail.entity] ?? doubted.map { ChildReader.words(cut: $0, detail.entity, of: parent) }
        guard schema[detail.entity]?.pull == nil, words != nil || isFull || cut != known else { return }
        try await noteList(words, of: detail.entity)
    }

    /// Reads the children of these parents. A person who has confirmed what lists lack believes also those that may be cut.
    func childReader(_ parent: Entity, _ detail: PullPlan.Detail) -> ChildReader {
        var reader = store.childReader(parent, detail)
        if deletionGuard.confirmed.contains(detail.entity) { reader.cut = nil }
        return reader
    }

    /// Children that cannot be confirmed, and those without a parent, are deleted when a later pull lacks them as well,
    /// within the guard. Returns how many were deleted, and whether the next pull must read all parents again to decide.
    func resolve(
        _ missing: [ExactText: [String]], of parent: Entity, _ detail: PullPlan.Detail, isFull: Bool
    ) async throws -> (deleted: Int, isOpen: Bool) {
        let confirmation = MissingChildren(store: store, upstream: upstream, parent: parent, detail: detail, now: now)
        let outcome = try await confirmation.confirm(missing)
        var deleted = outcome.deleted
        guard !outcome.left.isEmpty || isFull else { return (deleted, false) }
        let rows = try store.rowCount(of: detail.entity)
        var reason: String?
        // That their parents are gone was decided before, so the guard does not count them.
        var suspects = try isFull ? orphans(detail, of: parent) : []
        if outcome.left.count > deletionGuard.allowance(of: detail.entity, rows: rows) {
            reason = "the parents no longer list \(outcome.left.count.grouped) of \(rows.grouped) \(detail.entity)"
        } else {
            suspects += outcome.left
        }
        let position = try store.position()
        let again = try await store.noteMissing(suspects, of: detail.entity, upTo: now() - outcome.age, at: now())
        if !again.isEmpty {
            deleted += try await store.delete(again, of: detail.entity, position: position, at: now())
        }
        try await noteHeld(reason == nil ? 0 : outcome.left.count, reason, of: detail.entity)
        return (deleted, again.count < suspects.count)
    }

    /// Children that should have gone with their parent.
    private func orphans(_ detail: PullPlan.Detail, of parent: Entity) throws -> [String] {
        let goes = schema[detail.entity]?.ties.contains {
            $0.field == detail.by && $0.entity == parent.name && $0.onDelete == .cascade
        }
        guard goes == true, let by = detail.by else { return [] }
        return try store.orphans(of: detail.entity, by: by, in: parent.name)
    }
}

extension CacheStore {
    /// At how many of these children the lists of such parents may be cut; nil if nothing suggests that they are.
    func cut(of children: String, in parent: Entity) -> Int? {
        (try? setting(Self.cutSetting(children, in: parent))).flatMap { Int($0) }
    }

    /// Reads the children of these parents, whose lists may be cut.
    func childReader(_ parent: Entity, _ detail: PullPlan.Detail) -> ChildReader {
        ChildReader(parent: parent, detail: detail, cut: cut(of: detail.entity, in: parent))
    }

    fileprivate static func cutSetting(_ children: String, in parent: Entity) -> String {
        "cut:\(parent.name)/\(children)"
    }
}
