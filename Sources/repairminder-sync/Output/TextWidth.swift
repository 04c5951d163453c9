/// The width of text in terminal columns (Unicode Annex #11, as far as terminals agree on it).
enum TextWidth {
    static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

    /// Text of at most `width` columns, cut with an ellipsis when longer.
    static func cut(_ text: String, to width: Int) -> String {
        of(text) > width ? start(of: text, width: width - 1, atLeast: 0) + "…" : text
    }

    /// Lines of at most `width` columns, broken between words where there are any. At least one line.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        guard of(text) > width, width > 0 else { return [text] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let longer = line.isEmpty ? String(word) : "\(line) \(word)"
            if of(longer) <= width {
                line = longer
                continue
            }
            if !line.isEmpty { lines.append(line) }
            line = String(word)
            while of(line) > width {
                let start = start(of: line, width: width, atLeast: 1)
                lines.append(start)
                line = String(line.dropFirst(start.count))
            }
        }
        return lines + [line]
    }

    /// As much of the text as fits, and so many characters in any case.
    private static func start(of text: String, width: Int, atLeast least: Int) -> String {
        var used = 0
        let fitting = text.prefix { character in
            used += of(character)
            return used <= width
        }
        return String(fitting.count < least ? text.prefix(least) : fitting)
    }

    private static func of(_ character: Character) -> Int { character.unicodeScalars.map(of).max() ?? 0 }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

extension String {
    /// With spaces after it, up to this many characters.
    func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
