/// Reads what records get from other places when they come from the upstream.
extension EntityReader {
    /// The key first: most readers look for nothing else.
    func lift(_ key: KeyReader.Key, _ fields: [Field]) -> Lift? {
        let isNumber = fields.first { $0.name == key.field }?.kind == .integer
        var members = key.source.map { [Lift.Member(name: key.field, source: $0, isNumber: isNumber)] } ?? []
        members += fields.compactMap { field in field.link.map { Lift.Member(name: field.name, source: .link($0)) } }
        return members.isEmpty ? nil : Lift(members)
    }

    /// Where the upstream has the address of the record that a reference leads to.
    func link(_ node: SchemaNode, of field: Field) throws(SchemaError) -> String? {
        guard case .reference = field.kind, !field.isStoredSealed else {
            throw node.error("only a reference that is not secret or sealed can be read from a link; name a place in from")
        }
        guard case .link(let path) = try node.linkSource(of: field.name) else { return nil }
        return path
    }
}
