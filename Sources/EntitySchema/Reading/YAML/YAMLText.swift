internal import JSONText

/// Texts as YAML writes them, whatever they have in them.
package enum YAMLText {
    private static let words: Set = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "~"]

    /// In quotes unless no reader could take it for anything but this text.
    package static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "_/.-".utf8.contains(byte)
        }
        let first = text.utf8.first.map {
            (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "_")
        }
        if isPlain, first == true, !words.contains(text.lowercased()) { return text }
        return text == "<<" ? text : quoted(text)
    }

    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case let scalar where isOdd(scalar): result += escaped(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// One or more lines, none of them longer than a page.
    package static func comment(_ text: String) -> [String] {
        let words = text.split { $0.isWhitespace || $0.unicodeScalars.contains(where: isOdd) }
        var lines: [String] = []
        var line = "#"
        for word in words.prefix(120) {
            let word = word.prefix(100)
            if line.count + word.count > 116, line != "#" {
                lines.append(line)
                line = "#"
            }
            line += " \(word)"
        }
        return lines + [line]
    }

    /// What a YAML stream may not have, ends a line in it, or shows it in another order (Unicode Annex #9).
    package static func isOdd(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || [0x2028, 0x2029, 0xFEFF].contains(scalar.value)
            || (0xFFFE...0xFFFF).contains(scalar.value) || scalar.value > 0x10_0000
            || [0x061C, 0x200E, 0x200F].contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
            || (0x2066...0x2069).contains(scalar.value)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let width = scalar.value < 0x100 ? 2 : scalar.value < 0x1_0000 ? 4 : 8
        let letter = width == 2 ? "x" : width == 4 ? "u" : "U"
        return "\\\(letter)" + String(hexadecimal: scalar.value, digits: width).uppercased()
    }
}
