import EntitySchema
import JSONText
import SchemaDrift

/// Compares records with the fields that the schema gives them.
struct FieldProbe {
    let entity: Entity
    let records: [JSONText]
    /// One of them as its own address shows it, if each is read there too.
    var single: JSONText?

    func findings() -> [Finding] {
        guard !records.isEmpty else { return [] }
        return [keys()].compactMap(\.self) + drifted()
    }

    /// Names that keys often have.
    private static let keyNames = ["id", "_id", "uuid", "guid", "key", "pk", "code", "slug", "number"]

    private func keys() -> Finding? {
        let missing = records.filter { ($0[entity.key] ?? .null).kind == .null }.count
        guard missing > 0 else { return repeatedKeys() }
        let others = Self.keyNames.filter { name in name != entity.key && isKey(name) }
        let advice =
            others.first.map { "set key: \($0), which every record has" } ?? elsewhere
            ?? "set key to the field that identifies a record"
        let place = entity.lift?.place(of: entity.key).map { " (\($0.description))" } ?? ""
        return .error(
            entity.name, "\(missing) of \(records.count) records have no \(entity.key)\(place), their key", advice)
    }

    /// Another place where each record has a value of its own.
    private var elsewhere: String? {
        Lift.usualKeys.first { key in
            let lift = Lift([Lift.Member(name: entity.key, source: key.source)])
            let values = records.compactMap { lift.lifted($0)[entity.key]?.plain }
            return values.count == records.count && Set(values).count == records.count
        }.map { "set key: { field: \(entity.key), from: \($0.text) }, which every record has" }
    }

    private func repeatedKeys() -> Finding? {
        guard !isKey(entity.key) else { return nil }
        return .error(
            entity.name, "several records have the same \(entity.key), their key",
            "set key to a field that is different for each")
    }

    private func isKey(_ name: String) -> Bool {
        let values = records.compactMap { record in record[name].flatMap { $0.plain.isEmpty ? nil : $0.plain } }
        return values.count == records.count && Set(values).count == records.count
    }

    /// What differs from the schema: missing fields, values of another type, and what the schema does not have.
    private func drifted() -> [Finding] {
        var tally = DriftTally(DriftRules(entity))
        for record in records { tally.count(record.text, key: record.shown(entity.key)) }
        let wrong = tally.entries.filter { [.type, .value].contains($0.disagreement.kind) }.map(wrong)
        let absent = entity.fields.indices.filter { index in
            let field = entity.fields[index]
            let isThere =
                tally.rules.isCompared[index]
                ? tally.present[index] : records.contains { entity.value(of: field.name, in: $0) != .none }
            return !isThere && !field.isDerivedHere && !field.isWriteOnly && !isOnlyInSingle(field)
        }
        let unknown = tally.entries.filter { $0.disagreement.kind == .unknown }.map(\.disagreement.field)
        let more =
            unknown.isEmpty ? [] : [Finding.ok(entity.name, "kept beside the schema's fields: \(Self.list(unknown))")]
        let places = absent.isEmpty ? [] : records.prefix(20).map(PlaceSearch.init)
        return wrong + absent.map { missing(entity.fields[$0], places) } + more
    }

    /// Whether the record's own address shows the field. What `pull.where` tests must be in the list.
    private func isOnlyInSingle(_ field: Field) -> Bool {
        guard let single, entity.value(of: field.name, in: single) != nil else { return false }
        return entity.pull?.window?.fields.contains(field.name) != true
    }

    private func wrong(_ entry: DriftTally.Entry) -> Finding {
        let disagreement = entry.disagreement
        let blank = blank(in: entry)
        return .warning(
            entity.name,
            "\(disagreement.field): \(entry.count) of \(records.count) records have \(blank ?? disagreement.found)",
            blank.map { "nothing, if \($0) means that there is no value: it is served as it came" }
                ?? advice(disagreement))
    }

    /// What some upstreams write in place of null, by its type.
    private static let blanks = ["string": "\"\"", "boolean": "false"]

    /// What records have where the field expects another type, if all of them have what may stand for null.
    private func blank(in entry: DriftTally.Entry) -> String? {
        let disagreement = entry.disagreement
        guard disagreement.kind == .type, let blank = Self.blanks[disagreement.found] else { return nil }
        let count = records.count { entity.value(of: disagreement.field, in: $0)?.text == blank }
        return count == entry.count ? blank : nil
    }

    private func advice(_ disagreement: DriftTally.Disagreement) -> String {
        guard disagreement.kind != .value else { return "add the value to values" }
        guard disagreement.found == "string", let field = entity[field: disagreement.field], !field.isTextOnWire else {
            return "correct type"
        }
        switch field.kind {
        case .number, .money, .integer, .boolean: return "set wire: string if these are only in quotes"
        case .date: return "set wire to the form of these days, or correct type"
        default: return "correct type"
        }
    }

    /// A field that no record has.
    private func missing(_ field: Field, _ places: [PlaceSearch]) -> Finding {
        let alike = places.flatMap { $0.places(like: field.source ?? field.name) }
        let others = isInNull(field) ? [] : alike.filter(isFree)
        let advice =
            Set(others).sorted().first.map { "set from: \($0)" }
            ?? "nothing if it may be absent; else correct its name, or remove it"
        guard entity.pull?.window?.fields.contains(field.name) ?? false else {
            return .warning(entity.name, "\(field.name): no record of the list has it", advice)
        }
        return .error(
            entity.name, "\(field.name): no record of the list has it, and pull.where tests it",
            others.isEmpty ? "test a member that the list has, or filter in pull.query alone" : advice)
    }

    /// Whether its place is right, because a record has null for something around it: for `brands` of `brands.0.id`.
    private func isInNull(_ field: Field) -> Bool {
        let steps = (field.source ?? field.name).split(separator: ".")
        let around = (1..<max(1, steps.count)).map { steps.prefix($0).joined(separator: ".") }
        return (records + [single].compactMap(\.self)).contains { record in
            around.contains { record.at(path: $0)?.kind == .null }
        }
    }

    /// Whether no other field has its value from this place: the key of a record is not that of its brand.
    private func isFree(_ place: String) -> Bool { !entity.fields.contains { ($0.source ?? $0.name) == place } }

    private static func list(_ names: [String]) -> String {
        let unique = names.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let rest = unique.count - 12
        return unique.prefix(12).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
