package import EntitySchema
package import JSONText

/// Generates sample records for any schema: the same bytes for the same schema, size and seed.
///
/// References point to existing, older records. Two paths to a record of one entity lead to the same record. Counts
/// match the records they count. Only due times are after `reference`.
package struct SampleGenerator: Sendable {
    /// The present of the sample, fixed so that a seed gives the same bytes on any day.
    package static let reference = ShopGenerator.reference

    private static let day: Int64 = 86_400_000

    private let schema: EntitySchema
    /// Without local-only entities.
    private let entities: [Entity]
    private let rows: Int
    private let seed: UInt64
    private let account: String

    /// An entity without references to it has `rows` records; any other has a third as many as the entity that refers
    /// to it.
    ///
    /// `account` owns the records, for schemas that compute values from it.
    package init(
        schema: EntitySchema, rows: Int = 500, seed: UInt64 = 1, account: String = UpstreamSettings().account
    ) {
        self.schema = schema
        entities = schema.entities.filter { !$0.isLocal }
        self.account = account
        self.rows = max(1, rows)
        self.seed = seed
    }

    /// By entity, each list in the order of creation.
    package func records() -> [String: [JSONText]] {
        var random = SplitMix64(seed: seed)
        var sample = Sample()
        for entity in parentsFirst() { add(entity, to: &sample, &random) }
        count(&sample)
        return sample.entities.mapValues { $0.map(\.json) }
    }

    // MARK: Order and size

    /// Each entity after those that it refers to; entities that refer to each other keep the order of the file.
    private func parentsFirst() -> [Entity] {
        var order: [Entity] = []
        var visited: Set<String> = []
        func visit(_ entity: Entity) {
            guard visited.insert(entity.name).inserted else { return }
            for parent in entity.parents.compactMap({ schema[$0] }) { visit(parent) }
            order.append(entity)
        }
        for entity in entities { visit(entity) }
        return order
    }

    private func size(of entity: Entity, _ sample: Sample) -> Int {
        var size = rows
        for _ in 0..<height(of: entity.name, above: []) { size /= 3 }
        guard case .reference(let parent)? = entity[field: entity.key]?.kind else { return max(1, size) }
        return min(size, (sample.entities[parent]?.count ?? 0) * 4 / 5)
    }

    /// The length of the longest chain of entities that refers to this one.
    private func height(of name: String, above path: Set<String>) -> Int {
        let path = path.union([name])
        let below = entities.filter { $0.parents.contains(name) && !path.contains($0.name) }
        return below.map { 1 + height(of: $0.name, above: path) }.max() ?? 0
    }

    // MARK: Records

    private func add(_ entity: Entity, to sample: inout Sample, _ random: inout SplitMix64) {
        var keys = Set<String>()
        var frames: [SampleRecord] = []
        for _ in 0..<size(of: entity, sample) {
            var frame = frame(of: entity, sample, &random)
            // If the key is a reference, try one parent after another until all keys differ.
            while !keys.insert(frame.key).inserted { frame = self.frame(of: entity, sample, &random) }
            frames.append(frame)
        }
        frames.sort { ($0.born, $0.key) < ($1.born, $1.key) }
        for index in frames.indices {
            let isCounted = entity[field: entity.key]?.kind == .integer
            if isCounted { frames[index].key = "\(index + 1)" }
            frames[index].identity = isCounted ? .integer(index + 1) : .string(frames[index].key)
            let writer = SampleWriter(
                entity: entity, number: index + 1, frame: frames[index], sample: sample,
                account: entity.countsByAccount ? account : nil)
            frames[index].json = writer.record(&random)
        }
        sample.put(frames, of: entity.name)
    }

    /// Key, references and time of a record: what other records need to know about it.
    private func frame(of entity: Entity, _ sample: Sample, _ random: inout SplitMix64) -> SampleRecord {
        var frame = SampleRecord(key: SampleWords.uuid(&random))
        let references = entity.fields.compactMap { field -> (field: Field, to: String)? in
            guard case .reference(let other) = field.kind, sample.entities[other]?.isEmpty == false else { return nil }
            return (field, other)
        }
        // Start with the deepest reference: its ancestors then decide the others.
        for (field, other) in references.sorted(by: { depth($0.to) > depth($1.to) }) {
            // Without what its path is made of, a record and what it contains cannot be read.
            let isNeeded = field.required || entity.pull?.single.path.placeholders.contains(field.name) == true
            guard isNeeded || field.name == entity.key || random.chance(0.7) else { continue }
            guard let records = sample.entities[other] else { continue }
            let parent = frame.ancestors[other].flatMap { sample[other, $0] } ?? random.pick(records)
            frame.references[field.name] = parent.key
            frame.ancestors[other] = parent.key
            frame.ancestors.merge(parent.ancestors) { known, _ in known }
            frame.born = max(frame.born, parent.born)
            if field.name == entity.key { frame.key = parent.key }
        }
        let first = max(frame.born, Self.reference.milliseconds - 730 * Self.day)
        // The more levels depend on a record, the earlier it is created.
        let left = (Self.reference.milliseconds - first) / Int64(height(of: entity.name, above: []) + 1)
        frame.born = first + Int64(random.below(max(1, Int(left))))
        return frame
    }

    private func depth(_ name: String) -> Int {
        func depth(_ name: String, below path: Set<String>) -> Int {
            let path = path.union([name])
            let above = (schema[name]?.parents ?? []).filter { !path.contains($0) }
            return above.map { 1 + depth($0, below: path) }.max() ?? 0
        }
        return depth(name, below: [])
    }

    // MARK: Counts

    private func count(_ sample: inout Sample) {
        let derived = DerivedFields(schema: schema, account: account)
        for link in ParentLink.all(in: schema) {
            guard let child = schema[link.child] else { continue }
            let records = (sample.entities[link.child] ?? []).map(\.json)
            let children = Dictionary(grouping: records) { child.value(of: link.field, in: $0)?.plain ?? "" }
            sample.change(link.parent) { parent in
                let own = children[parent.key] ?? []
                if let field = link.count.flatMap({ schema[link.parent]?[field: $0] }) {
                    parent.json = parent.json.setting(field, to: .integer(own.count))
                }
                parent.json = derived.complete(parent.json, link, children: own)
            }
        }
    }
}

extension Entity {
    /// Whether a field counts records of the account, so that records should name it.
    fileprivate var countsByAccount: Bool {
        fields.contains { field in
            guard case .children(let figure) = field.derivation else { return false }
            return figure.conditions.contains { $0.values.contains(Condition.account) }
        }
    }

    /// The entities that its fields refer to, without itself.
    fileprivate var parents: [String] { references.map(\.target).filter { $0 != name } }
}
