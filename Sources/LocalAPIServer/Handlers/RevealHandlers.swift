internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Logging
internal import SQLiteStore
internal import SocketServer

/// Shows secret fields to callers that name them.
extension Handlers {
    /// One record with the secret fields that `reveal` names; nil without `reveal`.
    ///
    /// Logs the caller, the record and the names of the fields, never a value.
    func revealed(_ entity: Entity, _ key: String, _ request: Request) throws -> Response? {
        guard request.query != nil else { return nil }
        let parameters = try QueryParameters(request)
        guard let list = try parameters.value("reveal") else { return nil }
        if let other = parameters.items.first(where: { $0.name != "reveal" })?.name {
            throw Problem.parameter(
                other, "reveal cannot be combined with \(other); ask for the rest by itself", .conflictingParameters)
        }
        let names = list.split(separator: ",").map(String.init)
        try requireSecret(names, of: entity)
        let record = try JSONText(recordBytes(entity, key))
        guard let secrets = try store.reveal(names, of: entity.name, key: key) else {
            throw CacheError.notCached(entity: entity.name, key: key)
        }
        log.notice(
            "secrets were shown",
            metadata: [
                "entity": "\(entity.name)", "id": "\(record[entity.key]?.plain ?? key)",
                "fields": "\(secrets.map(\.key).joined(separator: ","))", "caller": "\(request.sender)",
                "request_id": "\(request.id)",
            ])
        let members = record.members.filter { $0.key != "_sync" } + secrets
        let sync = record.members.filter { $0.key == "_sync" }
        var response = Response.document(.object(members: members + sync))
        // Not to be compressed either.
        response.headers.append(("Cache-Control", "no-store, no-transform"))
        return response
    }

    private func requireSecret(_ names: [String], of entity: Entity) throws(Problem) {
        let known = entity.fields.filter(\.secret).map(\.name)
        let stray = names.first { !known.contains($0) }
        guard names.isEmpty || stray != nil || Set(names).count < names.count else { return }
        let has = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
        throw .parameter(
            "reveal", "expected secret fields of \(entity.name), each once\(stray.map { ", not \($0)" } ?? ""); \(has)")
    }
}

extension Request {
    /// The sender, for the log.
    fileprivate var sender: String {
        if let user = caller.user { return "user \(user)" }
        guard case .tcp(let remote, _) = peer else { return "unknown" }
        return "\(remote.address):\(remote.port)"
    }
}
