internal import EntitySchema

/// Writes a draft as a schema file.
struct DraftWriter {
    let model: DraftModel

    func yaml() -> String {
        let usual = Self.usual(model.entities)
        let entities = model.entities.map { entity in
            EntityWriter(
                entity: entity, children: model.entities.filter { $0.below?.parent == entity.name }, usual: usual.value
            ).member
        }
        let members = [
            YAMLNode.Member("schema", .text(model.name), above: header), YAMLNode.Member("title", .text(model.title)),
            UpstreamWriter(upstream: model.upstream, paging: usual.value, reason: usual.reason).member,
            YAMLNode.Member("entities", .block(entities)),
        ]
        let lines = YAMLNode.block(members).lines() + leftOut.flatMap { YAMLText.comment($0) }
        return lines.joined(separator: "\n") + "\n"
    }

    private var header: [String] {
        let settings = model.settings
        return [
            "Drafted from \(model.origin). Comments say why; TODO marks what was not found. docs/schema.md explains every key."
        ]
            + (settings.isEmpty
                ? []
                : [
                    "Set in the configuration: upstream.settings: { \(settings.map { "\($0): …" }.joined(separator: ", ")) }"
                ])
    }

    private var leftOut: [String] {
        model.leftOut.filter { $0.why != .notAsked }.map { "Left out: \($0.path): \($0.reason)" }
    }

    /// The paging that most lists have.
    private static func usual(_ entities: [DraftEntity]) -> Guess<DraftPaging> {
        let all = entities.compactMap { $0.pull?.paging ?? $0.below?.paging }
        var best = Guess(DraftPaging(), nil as String?)
        var most = 0
        for paging in all.prefix(200) {
            let count = all.count { $0.value == paging.value }
            if count > most { (best, most) = (paging, count) }
        }
        return best
    }
}
