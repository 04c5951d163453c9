/// Plain text as HTML, for upstreams that take nothing else.
enum HTMLText {
    /// The text in one `div`, its lines separated by `<br>`; every character that means something in HTML is escaped.
    static func paragraph(_ text: String) -> String {
        var html = "<div>"
        // One character may be two scalars: a carriage return and a line feed.
        for character in text {
            switch character {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            case _ where character.isNewline: html += "<br>"
            default: html.append(character)
            }
        }
        return html + "</div>"
    }
}
