import EntitySchema
import JSONText
import SchemaDraft
import Upstream

/// Looks for the records of other entities that come with those of one entity: in the records of its list, in a single
/// record, or in a list below one.
struct DetailProbe {
    let schema: EntitySchema
    let entity: Entity
    /// Those of the first page of its list.
    let records: [JSONText]
    let upstream: HTTPUpstream
    let transport: WatchedTransport

    func findings() async -> [Finding] {
        var findings: [Finding] = []
        for detail in entity.pull?.details ?? [] { findings += await self.findings(of: detail) }
        return findings
    }

    private func findings(of detail: PullPlan.Detail) async -> [Finding] {
        guard let first = records.first else { return [] }
        if let path = detail.path { return await listed(detail, path, of: first) }
        guard detail.isInSingle else { return embedded(detail, in: records) }
        // What is wrong with reading it is said of the record itself.
        guard let single = try? await upstream.record(of: entity, known: first) else { return [] }
        return embedded(detail, in: [single.record])
    }

    // MARK: In a list of their own

    private func listed(_ detail: PullPlan.Detail, _ template: Template, of parent: JSONText) async -> [Finding] {
        guard let path = entity.path(template, of: parent) else { return [] }
        let page: Page
        do {
            page = try await upstream.page(PageRequest(entity: detail.entity, path: path, list: detail.list))
        } catch {
            return [failure(error, detail, path)]
        }
        page.share?.release()
        return found([(parent, page.records)], as: detail, "GET \(path): ")
    }

    private func failure(_ error: UpstreamError, _ detail: PullPlan.Detail, _ path: String) -> Finding {
        let message = "GET \(path): \(error.message)"
        if case .gone = error {
            return .warning(
                detail.entity, message, "nothing if a record may have none; else correct pull.detail of \(entity.name)")
        }
        let advice = transport.lastBody.flatMap { PlaceSearch($0).adviceOnRecords(under: "pull.detail") }
        return .error(detail.entity, message, "in \(entity.name), \(advice ?? "correct pull.detail")")
    }

    // MARK: Inside a record

    private func embedded(_ detail: PullPlan.Detail, in parents: [JSONText]) -> [Finding] {
        var lists: [(parent: JSONText, list: JSONText)] = []
        for parent in parents {
            guard let list = detail.list.found(in: parent), list.kind == .array else { continue }
            lists.append((parent, list))
        }
        guard lists.isEmpty else { return found(lists, as: detail) }
        let place = detail.list.records.description
        let other = parents.lazy.compactMap { likely(for: detail, in: $0) }.first
        return [
            .warning(
                detail.entity, "no record of \(entity.name) has a list at \(place)",
                other.map { "set the place in pull.detail of \(entity.name) to \($0)" }
                    ?? "nothing if none of them has any; else correct pull.detail of \(entity.name)")
        ]
    }

    /// Where a record has a list that may be theirs.
    private func likely(for detail: PullPlan.Detail, in record: JSONText) -> String? {
        let lists = PlaceSearch(record).lists.map(\.place)
        let name = Words.folded(detail.entity)
        return lists.first { Words.folded($0).hasSuffix(name) } ?? lists.first
    }

    // MARK: What was found

    private func found(
        _ lists: [(parent: JSONText, list: JSONText)], as detail: PullPlan.Detail, _ call: String = ""
    ) -> [Finding] {
        let children = lists.flatMap { parent, list in self.children(list.elements, of: parent, detail) }
        let summary = Finding.ok(
            detail.entity,
            "\(call)\(children.count.counted("record", "records")) at \(detail.list.records.description), of "
                + "\(lists.count.counted("record", "records")) of \(entity.name)")
        guard let other = schema[detail.entity] else { return [summary] }
        return [summary] + FieldProbe(entity: other, records: children).findings()
    }

    private func children(_ children: [JSONText], of parent: JSONText, _ detail: PullPlan.Detail) -> [JSONText] {
        let identified = parent[entity.key].map { detail.identified(children, under: $0) } ?? children
        return identified.map { child($0, of: parent, detail.by) }
    }

    /// As the daemon keeps it: with its parent's key.
    private func child(_ child: JSONText, of parent: JSONText, _ by: String?) -> JSONText {
        guard let by, let key = parent[entity.key], child.kind == .object, (child[by] ?? .null).kind == .null else {
            return child
        }
        return child.setting(by, to: key)
    }
}
