internal import JSONText

/// Text of a schema inside generated code, where nothing of it may become code.
enum SafeText {
    private static let longest = 100

    /// Text for a comment: one line without control characters and marks that turn the direction of reading.
    static func comment(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(longest) {
            line.unicodeScalars.append(isVisible(scalar) ? scalar : " ")
        }
        if text.unicodeScalars.count > longest { line += "…" }
        return line.split(separator: " ").joined(separator: " ")
    }

    /// A string literal of Swift.
    static func swift(_ text: String) -> String { literal(text) { "\\u{\(String($0.value, radix: 16))}" } }

    /// A string literal of Python.
    static func python(_ text: String) -> String {
        literal(text) { scalar in
            let isLong = scalar.value > 0xFFFF
            return (isLong ? "\\U" : "\\u") + String(hexadecimal: scalar.value, digits: isLong ? 8 : 4)
        }
    }

    private static func literal(_ text: String, _ escaped: (Unicode.Scalar) -> String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where isVisible(scalar): literal.unicodeScalars.append(scalar)
            default: literal += escaped(scalar)
            }
        }
        return literal + "\""
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .nonspacingMark, .enclosingMark, .spacingMark: false
        default: true
        }
    }
}
