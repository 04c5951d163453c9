internal import JSONText

/// Text made of values: `{first_name} {last_name}`; `{first_name:1}` is the value's first letter as a capital.
///
/// A missing value is left out, no space is doubled or left at an end, and NUL, which ends a text in SQL, is left out.
package struct TextPattern: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
        case text(String)
        /// `letters`: only the first ones, as capitals; nil for the whole value.
        case value(name: String, letters: Int?)
    }

    package let parts: [Part]
    /// As written in the schema.
    package let source: String

    /// Nil when a brace is left open, a placeholder has no name, or a number of letters is none.
    package init?(_ source: String) {
        guard let template = Template(source) else { return nil }
        var parts: [Part] = []
        for part in template.parts {
            switch part {
            case .text(let text): parts.append(.text(text))
            case .placeholder(let placeholder):
                guard let value = Self.value(placeholder) else { return nil }
                parts.append(value)
            }
        }
        self.parts = parts
        self.source = source
    }

    private static func value(_ placeholder: String) -> Part? {
        let halves = placeholder.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return .value(name: placeholder, letters: nil) }
        guard let letters = Int(halves[1]), letters > 0, !halves[0].isEmpty else { return nil }
        return .value(name: String(halves[0]), letters: letters)
    }

    package var names: [String] { parts.compactMap { if case .value(let name, _) = $0 { name } else { nil } } }

    /// The text with every value that `value` has; nil when it has none, or they are empty.
    package func text(_ value: (String) -> String?) -> String? {
        var text = ""
        var isEmpty = true
        for part in parts {
            switch part {
            case .text(let fixed): text += fixed
            case .value(let name, let letters):
                guard let filling = value(name).map(Self.withoutNUL), !filling.isEmpty else { continue }
                text += letters.map { filling.prefix($0).uppercased() } ?? filling
                isEmpty = false
            }
        }
        return isEmpty ? nil : Self.withSingleSpaces(text)
    }

    // Nearly every text stays as it is, and a look at its bytes takes a tenth of the time that changing it takes.

    private static func withoutNUL(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return MarkRun.shortened(text.replacing("\0", with: ""), upTo: MarkRun.longestUpstream)
    }

    private static func withSingleSpaces(_ text: String) -> String {
        let space = UInt8(ascii: " ")
        var isAfterSpace = true
        for byte in text.utf8 {
            guard byte != space || !isAfterSpace else { return spaced(text) }
            isAfterSpace = byte == space
        }
        return isAfterSpace ? spaced(text) : text
    }

    private static func spaced(_ text: String) -> String { text.split(separator: " ").joined(separator: " ") }
}
