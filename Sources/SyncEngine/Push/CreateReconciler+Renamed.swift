internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Upstream

/// The record of an edit whose answer was lost, and by which the upstream may have given it another key: a slug that follows a
/// title, or a hash of an address.
extension CreateReconciler {
    /// Looks for it as for a new record. Nil if the schema does not say how, or the edit sets nothing of what a look-up compares.
    ///
    /// It is the one that was unknown before the first attempt and has what was sent, if all else that edits can set is as it
    /// was.
    func renamed(by edit: OutboxChange, _ entity: Entity) async throws -> Finding? {
        guard edit.operation == .update, edit.isTried, !edit.isContentOnly,
            let known = try store.remote(of: entity.name, key: edit.key),
            case .match(let fields, let path, let list) = entity.route(for: .create, record: known)?.lookUp,
            fields.contains(where: { edit.body[$0] != nil })
        else { return nil }
        var sought = edit
        sought.record = known.setting(edit.body)
        let compared = fields.filter { entity.value(of: $0, in: sought.record) != nil }
        sought.body = .object(
            members: compared.compactMap { name in
                entity.value(of: name, in: sought.record).map { (key: name, value: $0) }
            }
        ).setting(edit.body)
        guard let request = listRequest(path, list, sought, entity) else { return nil }
        let finding = try await match(request, compared, sought, entity)
        guard case .applied(let found) = finding else { return finding }
        return isKept(known, in: found.record, besides: edit, entity) ? finding : .absent
    }

    /// Whether the found record shows what was sent, and else what the record had in all that edits can set and both show.
    private func isKept(
        _ known: JSONText, in found: JSONText, besides edit: OutboxChange, _ entity: Entity
    ) -> Bool {
        let moving = [entity.key, entity.pull?.changedAt, entity.pull?.whenChanged].compactMap(\.self)
        return edit.isSaid(by: found, of: entity)
            && entity.fields.allSatisfy { field in
                guard edit.body[field.name] == nil, !moving.contains(field.name), !field.isTouched,
                    !entity.isSetByServer(field.name), let before = field.value(in: known),
                    let after = field.value(in: found)
                else { return true }
                return edit.meaning.isSame(before, after, of: field.name)
            }
    }
}
