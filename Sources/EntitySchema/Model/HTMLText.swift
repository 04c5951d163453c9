/// Plain text as HTML.
package enum HTMLText {
    /// The text in one `div`, its lines separated by `<br>`, for upstreams that take nothing but HTML.
    static func paragraph(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return "<div>\(lines.map { escaped(String($0)) }.joined(separator: "<br>"))</div>"
    }

    /// Safe in content and in double-quoted attributes. Goes by scalars, because a mark that combines with `<` makes
    /// another character of it, but a browser still sees `<`.
    package static func escaped(_ text: String) -> String {
        var html = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }

    /// The text that a program has escaped once, however it spells the characters: `&lt;`, `&#60;`, `&#060;`, `&#x3C;`.
    static func unescaped(_ html: String) -> String {
        guard html.utf8.contains(UInt8(ascii: "&")) else { return html }
        var text = ""
        var rest = html[...]
        while let mark = rest.firstIndex(of: "&") {
            text += rest[..<mark]
            rest = rest[mark...]
            let reference = rest.prefixMatch(of: #/&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,4}));/#)
            let character = reference.flatMap { Self.character(number: $0.1, hex: $0.2, name: $0.3) }
            text += character ?? "&"
            rest = rest.dropFirst(character == nil ? 1 : reference?.0.count ?? 1)
        }
        return text + rest
    }

    /// The text that a program has put into paragraphs: `<p>a<br />\nb</p>\n<p>c</p>` is three lines with an empty one before the
    /// last. Nil for other text.
    static func withoutParagraphs(_ html: String) -> String? {
        guard html.hasPrefix("<p>"), html.hasSuffix("</p>") else { return nil }
        return String(html.dropFirst(3).dropLast(4)).replacing("</p>\n<p>", with: "\n\n").replacing(
            "<br />\n", with: "\n")
    }

    private static func character(number: Substring?, hex: Substring?, name: Substring?) -> String? {
        if let name { return entities[String(name)] }
        let code = number.flatMap { UInt32($0) } ?? hex.flatMap { UInt32($0, radix: 16) }
        return code.flatMap(Unicode.Scalar.init).map { String($0) }
    }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
}
