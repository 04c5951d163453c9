package import JSONText

/// An `application/x-www-form-urlencoded` body, in which nested values have their places in brackets, as PHP, Rails and
/// most services with forms read them: `tags[]=a&tags[]=b&address[city]=Leeds`.
package enum FormBody {
    /// Strings as they are, null as an empty text, anything else as JSON. The order is that of the members.
    package static func text(of fields: JSONText) -> String {
        var writer = Writer()
        for (name, value) in fields.members { writer.add(value, at: name) }
        return writer.text
    }

    /// Keeps only the name of the current value. Together, the names of all levels of a deep value would be many times its
    /// size.
    private struct Writer {
        private(set) var text = ""
        private var name = ""

        mutating func add(_ value: JSONText, at step: String) {
            let length = name.utf8.count
            name += Entity.percentEncoded(step)
            switch value.kind {
            // An empty object or list would not be there at all.
            case .object where value.members.isEmpty: write("")
            case .object: for (name, value) in value.members { add(value, at: "[\(name)]") }
            case .array where value.elementCount == 0: add(.null, at: "[]")
            case .array: for element in value.elements { add(element, at: "[]") }
            case .null: write("")
            case .string, .number, .boolean: write(value.string ?? value.text)
            }
            name.removeSubrange(name.utf8.index(name.startIndex, offsetBy: length)...)
        }

        private mutating func write(_ value: String) {
            if !text.isEmpty { text += "&" }
            text += "\(name)=\(Entity.percentEncoded(value))"
        }
    }
}
