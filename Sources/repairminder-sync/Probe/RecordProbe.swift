import EntitySchema
import JSONText
import Upstream

/// Reads one record by its key, and compares it with what the list showed of it.
struct RecordProbe {
    let entity: Entity
    let upstream: HTTPUpstream
    let transport: WatchedTransport
    /// Whether the schema sends the entity tag of a record with each change.
    let needsTag: Bool

    func findings(like listed: JSONText) async -> [Finding] {
        guard let path = entity.recordPath(of: listed) else { return [] }
        let call = "\(entity.pull?.single.method ?? "GET") \(path)"
        let found: RemoteRecord?
        do {
            found = try await upstream.record(of: entity, known: listed)
        } catch {
            return [failure(error, call)]
        }
        guard let found else {
            return [.error(entity.name, "\(call): there is no such record", "correct pull.record.path")]
        }
        guard entity.haveSameKey(found.record, listed) else {
            return [.error(entity.name, "\(call): it is another record", "correct pull.record.path")]
        }
        let place = Finding.ok(entity.name, "\(call): the record is \(place(of: found.record))")
        return [place, tag(found)].compactMap(\.self) + moved(found.record, listed)
    }

    /// Where the answer has it, which is not always where the upstream's own place says.
    private func place(of record: JSONText) -> String {
        let found = transport.lastBody.flatMap { answer in
            PlaceSearch(answer).objects(with: entity.key).first { $0.value == record }
        }
        return found.map { $0.place.isEmpty ? "the answer itself" : "at \($0.place)" } ?? "there"
    }

    private func failure(_ error: UpstreamError, _ call: String) -> Finding {
        guard case .malformed = error, entity.lift == nil, let answer = transport.lastBody,
            let place = PlaceSearch(answer).objects(with: entity.key).first?.place
        else { return .error(entity.name, "\(call): \(error.message)", "correct pull.record.path") }
        return .error(
            entity.name, "\(call): \(error.message)",
            place.isEmpty ? "remove pull.record.at: the record is the answer itself" : "set pull.record.at: \(place)")
    }

    private func tag(_ found: RemoteRecord) -> Finding? {
        guard needsTag, found.version == nil else { return nil }
        let tag = transport.last?.header("ETag")
        return .warning(
            entity.name,
            tag == nil ? "a single record has no ETag" : "its ETag \(tag ?? "") is weak, and never matches",
            "remove upstream.version, or name a field of the record there")
    }

    /// Fields that only the list has where the schema says.
    private func moved(_ record: JSONText, _ listed: JSONText) -> [Finding] {
        let places = PlaceSearch(record)
        return entity.fields.compactMap { field in
            guard !field.isDerivedHere, let value = field.value(in: listed), field.value(in: record) == nil,
                let place = places.places(like: field.source ?? field.name)
                    .first(where: { record.at(path: $0)?.isEquivalent(to: value) == true })
            else { return nil }
            return .warning(
                entity.name, "\(field.name): the single record has it at \(place)",
                "set from: \(place), where the list has none")
        }
    }
}
