internal import EntitySchema
internal import JSONText

/// What a server with habits answers to a write that it has applied.
struct AnswerHabits {
    let handler: RequestHandler
    let store: Store
    let entity: Entity
    /// Where the schema expects the record.
    let place: Place
    /// The route's method and path.
    let call: String
    let now: Timestamp

    private var habits: Habits { store.habits }

    func created(_ record: JSONText, from sent: JSONText) -> Answer {
        let path = entity.recordPath(of: record)
        if habits[.locationAnswers], let path {
            store.note(.locationAnswers)
            return Answer(status: 201, headers: [("Location", path)])
        }
        var answer = shaped(201, record, sent)
        if let path, !habits[.emptyAnswers] { answer.headers.append(("Location", path)) }
        return answer
    }

    /// `key` is the record's before the change.
    func updated(_ record: JSONText, key: String, from sent: JSONText) -> Answer {
        guard let old = store.replica(.laggingAnswers, at: now).record(entity.name, key: key), old != record else {
            return shaped(200, record, sent)
        }
        if habits[.laggingAnswers] { store.note(.laggingAnswers) }
        return shaped(200, habits[.laggingAnswers] ? old : record, sent)
    }

    func deleted() -> Answer {
        switch habits.first(of: [.emptyAnswers, .successAnswers]) {
        case .emptyAnswers:
            store.note(.emptyAnswers)
            return Answer(status: 204)
        case .successAnswers:
            store.note(.successAnswers)
            return .json(200, .object(["success": true]))
        default: return .json(200, handler.envelope.record(.null, at: place))
        }
    }

    private func shaped(_ status: Int, _ record: JSONText, _ sent: JSONText) -> Answer {
        let key = JSONText.object(members: [(entity.key, record[entity.key] ?? .null)])
        let shape = habits.first(of: [.partialAnswers, .idAnswers, .successAnswers, .emptyAnswers])
        if let shape { store.note(shape) }
        switch shape {
        case .successAnswers: return .json(status, .object(["success": true]))
        case .emptyAnswers: return Answer(status: status == 200 ? 204 : status)
        case .idAnswers: return answer(status, key, record)
        case .partialAnswers:
            let part = sent.members.reduce(key) { part, member in
                part.setting(member.key, to: entity.value(of: member.key, in: record) ?? .null)
            }
            return answer(status, part.setting(entity.key, to: record[entity.key] ?? .null), record)
        default:
            guard let members = handler.settings.shape?.calls[call]?.answer else {
                return answer(status, RecordViews(store: store, entity: entity).single(record), record)
            }
            let shown = members.map { (key: $0.member, value: entity.value(of: $0.field, in: record) ?? .null) }
            return answer(status, .object(members: shown), record)
        }
    }

    private func answer(_ status: Int, _ shown: JSONText, _ record: JSONText) -> Answer {
        let shown = entity.lift?.placed(shown) ?? shown
        return handler.tagged(.json(status, handler.envelope.record(shown, at: place, store)), record)
    }
}

extension Envelope {
    /// A single record, by itself if the server does not wrap those.
    func record(_ record: JSONText, at place: Place, _ store: Store) -> JSONText {
        guard store.habits[.bareRecords] else { return self.record(record, at: place) }
        store.note(.bareRecords)
        return record
    }
}
