package import JSONText

/// An `application/x-www-form-urlencoded` body, in which nested values have their places in brackets, as PHP, Rails and
/// most services with forms read them: `tags[]=a&tags[]=b&address[city]=Leeds`.
package enum FormBody {
    /// Strings as they are, null as an empty text, anything else as JSON. The order is that of the members.
    package static func text(of fields: JSONText) -> String {
        fields.members.flatMap { pairs(of: $0.value, named: $0.key) }.map { name, text in
            "\(Entity.percentEncoded(name))=\(Entity.percentEncoded(text))"
        }.joined(separator: "&")
    }

    private static func pairs(of value: JSONText, named name: String) -> [(name: String, text: String)] {
        switch value.kind {
        case .object: value.members.flatMap { pairs(of: $0.value, named: "\(name)[\($0.key)]") }
        // An empty list would not be there at all.
        case .array where value.elementCount == 0: [("\(name)[]", "")]
        case .array: value.elements.flatMap { pairs(of: $0, named: "\(name)[]") }
        case .null: [(name, "")]
        case .string, .number, .boolean: [(name, value.string ?? value.text)]
        }
    }
}
