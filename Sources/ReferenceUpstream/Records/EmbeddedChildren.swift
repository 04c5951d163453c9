internal import EntitySchema
internal import JSONText

/// Embeds children in their parents' records when the schema says so.
struct EmbeddedChildren {
    private let parent: Entity
    private let child: String
    private let link: String
    private let place: [Substring]
    private let lift: Lift?

    /// The children in each record of a list.
    static func inList(of parent: Entity, _ store: Store) -> [EmbeddedChildren] {
        (parent.pull?.details ?? []).filter(\.isInList).compactMap {
            EmbeddedChildren(parent, $0, within: .itself, store)
        }
    }

    /// The children in a single record at `place` of its response.
    static func inRecord(of parent: Entity, at place: Place, _ store: Store) -> [EmbeddedChildren] {
        guard let pull = parent.pull else { return [] }
        return pull.details.compactMap { detail in
            guard let path = detail.path else { return EmbeddedChildren(parent, detail, within: .itself, store) }
            guard path == pull.single.path else { return nil }
            return EmbeddedChildren(parent, detail, within: place, store)
        }
    }

    private init?(_ parent: Entity, _ detail: PullPlan.Detail, within place: Place, _ store: Store) {
        let outer = place.paths[0].split(separator: ".")
        let inner = detail.list.records.paths[0].split(separator: ".")
        guard let link = store.link(from: detail.entity, to: parent.name), inner.count > outer.count,
            inner.starts(with: outer)
        else { return nil }
        self.parent = parent
        self.link = link
        child = detail.entity
        lift = detail.list.lift
        self.place = Array(inner.dropFirst(outer.count))
    }

    func put(into record: JSONText, _ store: inout Store) -> JSONText {
        let key = record[parent.key]?.plain ?? ""
        var children = store.select(child, where: [(link, key)], window: ListWindow(size: .max)).rows
        if store.settings.shape != nil, let entity = store.schema[child] {
            children = children.map(RecordViews(store: store, entity: entity).single)
        }
        if let lift { children = children.map(lift.placed) }
        return record.setting(place[...], to: .array(children))
    }
}
