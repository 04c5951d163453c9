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

    /// The text that a program has escaped once, however it spells the quotes.
    static func unescaped(_ html: String) -> String {
        guard html.utf8.contains(UInt8(ascii: "&")) else { return html }
        var text = ""
        var rest = html[...]
        while let mark = rest.firstIndex(of: "&") {
            text += rest[..<mark]
            rest = rest[mark...]
            let entity = entities.first { rest.hasPrefix($0.html) }
            text += entity?.text ?? "&"
            rest = rest.dropFirst(entity?.html.count ?? 1)
        }
        return text + rest
    }

    private static let entities: [(html: String, text: String)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#034;", "\""),
        ("&#39;", "'"),
        ("&#039;", "'"), ("&#x27;", "'"), ("&#x22;", "\""), ("&apos;", "'"),
    ]
}
