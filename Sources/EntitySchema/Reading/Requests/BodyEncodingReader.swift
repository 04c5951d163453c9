/// Reads `encoding` of a push route: `json`, `form`, or the media type of a JSON body.
struct BodyEncodingReader {
    let node: SchemaNode
    /// How the route is called.
    let method: String
    /// Whether `body` puts a form around the fields.
    let isEnclosed: Bool

    func encoding() throws(SchemaError) -> BodyEncoding {
        let encoding = try named()
        if [.mergePatch, .jsonPatch].contains(encoding), method != "PATCH" {
            throw node.error("only a PATCH sends a patch; correct call or encoding")
        }
        if encoding == .jsonPatch, isEnclosed {
            throw node.error("a JSON patch is a list of operations with nothing around it; remove body or encoding")
        }
        return encoding
    }

    private func named() throws(SchemaError) -> BodyEncoding {
        let name = try node.string()
        switch name {
        case "json": return .plain
        case "form", BodyEncoding.form.mediaType: return .form
        case BodyEncoding.mergePatch.mediaType: return .mergePatch
        case BodyEncoding.jsonPatch.mediaType: return .jsonPatch
        default:
            let isJSON = name == "application/json" || name.hasPrefix("application/") && name.hasSuffix("+json")
            guard isJSON, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }) else {
                throw node.error(
                    "expected json, form, or the media type of a JSON body, such as application/vnd.api+json")
            }
            return .json(type: name)
        }
    }
}
