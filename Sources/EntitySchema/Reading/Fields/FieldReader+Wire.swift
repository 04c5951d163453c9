/// Reads `wire`: how the upstream writes a value otherwise than the cache.
extension FieldReader {
    func readWire(_ node: SchemaNode, of field: inout Field) throws(SchemaError) {
        switch field.kind {
        case .date: field.dayFormat = try dayFormat(node)
        case .time: field.timeFormat = try timeFormat(node)
        case .string, .reference: field.isPath = try isPath(node)
        default: field.isTextOnWire = try isText(node, field.kind)
        }
    }

    private func dayFormat(_ node: SchemaNode) throws(SchemaError) -> TimeFormat? {
        let format = try node.timeFormat()
        return format == .date ? nil : format
    }

    private func timeFormat(_ node: SchemaNode) throws(SchemaError) -> TimeFormat {
        let format = try node.timeFormat()
        guard format.isISO, format.precision < .seconds(86_400), format != .date else {
            throw node.error(
                "a field of type time is read as ISO 8601, and as UTC if its text has no offset, so expected iso, "
                    + "iso_space or parts in that order, without an offset in brackets, such as yyyy-MM-dd HH:mm:ss; "
                    + "for numbers use type integer, for days type date, for other texts type string"
            )
        }
        return format
    }

    private func isPath(_ node: SchemaNode) throws(SchemaError) -> Bool {
        guard try node.string() == "path" else {
            throw node.error(
                "wire is for a field of type integer, number, money, boolean, time or date, and can be path for a string or a "
                    + "reference whose slashes stay in addresses; remove it")
        }
        return true
    }

    private func isText(_ node: SchemaNode, _ kind: Field.Kind) throws(SchemaError) -> Bool {
        guard try node.string() == "string" else { throw node.error("expected string") }
        guard [.integer, .number, .money, .boolean].contains(kind) else {
            throw node.error(
                "wire is for a field of type integer, number, money, boolean, string, reference, time or date; remove it"
            )
        }
        return true
    }
}
