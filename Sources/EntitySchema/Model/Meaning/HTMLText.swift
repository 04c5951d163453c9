internal import JSONText

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
    ///
    /// In one walk over the bytes, because all writes wait while a long text is compared.
    static func unescaped(_ html: String) -> String {
        guard html.utf8.contains(UInt8(ascii: "&")) else { return html }
        let bytes = Array(html.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "&"), let found = reference(in: bytes[(at + 1)...].prefix(longest + 1)) {
                text += found.character.utf8
                at = found.end
            } else {
                text.append(bytes[at])
                at += 1
            }
        }
        return MarkRun.shortened(String(decoding: text, as: UTF8.self), upTo: MarkRun.longestUpstream)
    }

    /// A reference to a character without its `&` and `;`: `amp`, seven digits, or six hexadecimal ones.
    private static let longest = 8

    /// The character that the reference at the start of `bytes` stands for, and where the reference ends.
    private static func reference(in bytes: ArraySlice<UInt8>) -> (character: String, end: Int)? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = bytes[..<end]
        let character = name.first == UInt8(ascii: "#") ? numbered(name.dropFirst()) : entities[text(name)]
        return character.map { ($0, end + 1) }
    }

    private static func numbered(_ bytes: ArraySlice<UInt8>) -> String? {
        let isHex = bytes.first.map { $0 | 0x20 } == UInt8(ascii: "x")
        let digits = isHex ? bytes.dropFirst() : bytes
        // A number in Swift may also have a sign.
        guard let first = digits.first, !"+-".utf8.contains(first), digits.count <= (isHex ? 6 : 7),
            let code = UInt32(text(digits), radix: isHex ? 16 : 10)
        else { return nil }
        return Unicode.Scalar(code).map { String($0) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The text that a program has put into paragraphs: `<p>a<br />\nb</p>\n<p>c</p>` is three lines with an empty one before the
    /// last. Nil for other text.
    static func withoutParagraphs(_ html: String) -> String? {
        guard html.hasPrefix("<p>"), html.hasSuffix("</p>") else { return nil }
        return String(html.dropFirst(3).dropLast(4)).replacing("</p>\n<p>", with: "\n\n").replacing(
            "<br />\n", with: "\n")
    }

    private static let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
}
