import JSONText

/// Text as it may go to a terminal: records, and the answers of other programs, come from strangers.
///
/// A terminal obeys control characters, and bidirectional controls make a line read as another one. They are shown as
/// JSON escapes (`\u001b`), so JSON stays the same JSON: its strings are the only place where they can occur.
enum TerminalText {
    /// Newlines and tabs stay.
    static func safe(_ text: String) -> String { escaped(text) { isUnsafe($0) && $0 != "\n" && $0 != "\t" } }

    /// For a cell or a line: line breaks and tabs become spaces.
    static func line(_ text: String) -> String {
        let flat =
            text.unicodeScalars.contains { isSpace($0) }
            ? String(String.UnicodeScalarView(text.unicodeScalars.map { isSpace($0) ? " " : $0 })) : text
        return escaped(flat, isUnsafe)
    }

    /// Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        // Marks, embeddings, overrides and isolates (Unicode Annex #9).
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// `\u` and four digits, as in JSON.
    static func escape(_ scalar: Unicode.Scalar) -> String { "\\u" + String(hexadecimal: scalar.value, digits: 4) }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        ["\n", "\r", "\t", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
    }

    private static func escaped(_ text: String, _ isUnsafe: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }
}
