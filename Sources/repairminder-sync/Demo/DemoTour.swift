import EntitySchema
import Foundation
import JSONText
import LocalAPI

/// What to try first with a schema: read some records, filter them, and change one.
struct DemoTour {
    let entity: Entity
    /// An enum to filter by.
    let filter: Field
    /// What to change, and to what.
    let field: Field
    let value: String

    /// Names of fields that people write notes or names in; the first that an entity has is changed.
    private static let texts = ["notes", "note", "text", "description", "title", "name"]

    /// Nil when no entity has both an enum and a field that can be changed.
    init?(of schema: EntitySchema) {
        for entity in schema.entities where entity.pull != nil {
            guard let filter = entity.fields.first(where: { $0.enumValues != nil && !$0.isStoredSealed }),
                let (field, value) = Self.change(in: entity)
            else { continue }
            (self.entity, self.filter, self.field, self.value) = (entity, filter, field, value)
            return
        }
        return nil
    }

    private static func change(in entity: Entity) -> (Field, String)? {
        let open = entity.fields.filter { field in
            !field.isDerivedHere && !field.isStoredSealed && field.name != entity.key
                && entity.push.update.contains { $0.conditions.isEmpty && $0.canSend(field.name) }
        }
        let strings = open.filter { $0.kind == .string }
        if let text = texts.lazy.compactMap({ name in strings.first { $0.name == name } }).first {
            return (text, "called")
        }
        for field in open {
            if let value = field.enumValues?.last { return (field, value) }
        }
        return strings.first.map { ($0, "called") }
    }

    /// The commands for one record of the entity. The addresses begin with `http://` only where it must be written.
    func commands(for record: JSONText, api: String, upstream: String) -> [String] {
        let key = entity.key
        let id = record.shown(key)
        let state = filter.value(in: record)?.plain ?? ""
        let list = api + LocalAPIPaths.records(of: entity.name)
        let shown = filter.name == field.name ? [key, field.name] : [key, filter.name, field.name]
        return [
            "curl -s '\(list)?limit=3' | jq",
            "curl -s '\(list)?\(filter.name)=\(Self.encoded(state))&limit=3' | "
                + "jq -c '.data[] | {\(shown.joined(separator: ", "))}'",
            "curl -s '\(api)\(LocalAPIPaths.record(of: entity.name, id: id))' -X PATCH "
                + "--json '{\"\(field.name)\":\(ShellWord.betweenQuotes(JSONText.string(value).text))}' | jq ._sync",
            "curl -s \(api)\(LocalAPIPaths.pendingCount)",
            "curl -s \(upstream)/__admin/records/\(entity.name) | "
                + "jq 'select((.\(key) | tostring) == \(ShellWord.betweenQuotes(JSONText.string(id).text))).\(field.name)'",
        ]
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_", "."])) ?? text
    }
}
