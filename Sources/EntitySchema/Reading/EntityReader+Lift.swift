/// Reads what records get from other places when they come from the upstream.
extension EntityReader {
    /// The key first: most readers look for nothing else.
    func lift(_ key: KeyReader.Key, _ fields: [Field]) -> Lift? {
        let isNumber = fields.first { $0.name == key.field }?.kind == .integer
        var members = key.source.map { [Lift.Member(name: key.field, source: $0, isNumber: isNumber)] } ?? []
        members += fields.compactMap { field in field.link.map { Lift.Member(name: field.name, source: .link($0)) } }
        return members.isEmpty ? nil : Lift(members)
    }

    /// `{ link: contact, sent: "https://api.example/contacts/{contact_id}" }`: where the upstream has the address of the record
    /// that a reference leads to.
    func readLink(_ node: SchemaNode, of field: inout Field) throws(SchemaError) {
        guard case .reference = field.kind, !field.isStoredSealed else {
            throw node.error(
                "only a reference that is not secret or sealed can be read from a link; name a place in from")
        }
        try node.requireKeys(["link", "sent"])
        field.link = try node.required("link").onePlace(of: field.name)
        guard let sent = node.child("sent") else { return }
        let template = try sent.template()
        guard template.placeholders == [field.name] else {
            throw sent.error("expected the address of the other record with {\(field.name)} once in it")
        }
        field.sentLink = template
    }
}
