internal import EntitySchema
internal import JSONText

/// The defaults of a record that is created here, as they are at that time.
struct CreationDefaults {
    let entity: Entity
    let context: WriteContext

    /// The members that the record gets besides `body`, which has what the caller gave: those to send, and those that
    /// readers see until the server says otherwise.
    func members(beside body: JSONText) throws -> (sent: JSONText, shown: JSONText) {
        var sent: [(key: String, value: JSONText)] = []
        var shown: [(key: String, value: JSONText)] = []
        for field in entity.fields {
            guard let initial = field.initial, body[field.name] == nil else { continue }
            guard let value = try value(initial.value, body) else { continue }
            if initial.isSent { sent.append((field.name, value)) } else { shown.append((field.name, value)) }
        }
        return (.object(members: sent), .object(members: shown))
    }

    /// Nil for a text without any value.
    private func value(_ value: FieldDefault.Value, _ body: JSONText) throws -> JSONText? {
        switch value {
        case .value(let json): return json
        case .now: return .string((context.now + context.clockOffset).description)
        case .text(let pattern):
            var values: [String: String] = [:]
            for name in pattern.names { values[name] = try text(name, body) }
            return pattern.text { values[$0] }.map { JSONText.string($0) }
        }
    }

    private func text(_ name: String, _ body: JSONText) throws -> String? {
        if name == FieldDefault.accountName {
            return try SettingTable(db: context.db)[SettingTable.accountName]
        }
        guard entity.far(name) != nil else { return entity.value(of: name, in: body)?.plain }
        return try FarValues(schema: context.schema, db: context.db).value(name, of: body, entity)?.plain
    }
}

/// Fields of type time that move with each local edit.
extension Entity {
    var touchedFields: [Field] {
        // By index, because a walk over the fields copies each of them.
        fields.indices.filter { fields[$0].isTouched }.map { fields[$0] }
    }

    /// The record with these fields at `time`, but for those that `given` sets or that are later already.
    func touched(_ record: JSONText, at time: Timestamp, except given: JSONText) -> JSONText {
        moving(touchedFields, in: record, at: time, except: given).reduce(record) { record, field in
            record.setting(field.name, to: .string(time.description))
        }
    }

    /// Those of `fields`, the fields that move, that `touched` sets.
    func moving(_ fields: [Field], in record: JSONText, at time: Timestamp, except given: JSONText) -> [Field] {
        fields.filter { field in
            let known = value(of: field.name, in: record)?.string.flatMap(Timestamp.init(iso8601:))
            return given[field.name] == nil && known.map({ $0 < time }) ?? true
        }
    }
}
