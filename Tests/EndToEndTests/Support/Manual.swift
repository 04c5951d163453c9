import Foundation

/// The examples of a Markdown file: commands in a `sh` block, and the answer in the block directly below it.
struct Manual {
    struct Example {
        /// The line where its commands begin, counted from 1.
        var line: Int
        var commands: String
        /// The lines of its answer, counted from 0; nil when none is shown because nothing is printed.
        var answer: Range<Int>?
    }

    private(set) var examples: [Example] = []
    /// The lines where answers begin that belong to no commands.
    private(set) var strays: [Int] = []
    private var lines: [String]

    private static let answerLanguages = ["json", "http", "text"]

    init(_ text: String) {
        lines = text.components(separatedBy: "\n")
        var block: (language: String, start: Int)?
        var followsCommands = false
        for (number, line) in lines.enumerated() {
            if let open = block {
                guard line == "```" else { continue }
                add(open.language, open.start..<number, followsCommands: followsCommands)
                followsCommands = open.language == "sh"
                block = nil
            } else if line.hasPrefix("```") {
                block = (String(line.dropFirst(3)), number + 1)
            } else {
                followsCommands = false
            }
        }
    }

    private mutating func add(_ language: String, _ block: Range<Int>, followsCommands: Bool) {
        if language == "sh" {
            examples.append(Example(line: block.lowerBound + 1, commands: text(of: block)))
        } else if Self.answerLanguages.contains(language) {
            if followsCommands {
                examples[examples.count - 1].answer = block
            } else {
                strays.append(block.lowerBound + 1)
            }
        }
    }

    private func text(of block: Range<Int>) -> String { lines[block].joined(separator: "\n") }

    func shown(by example: Example) -> String { example.answer.map(text) ?? "" }

    /// The whole text with its answers replaced by these, one for each example.
    func text(answering answers: [String]) -> String {
        var lines = lines
        for (example, answer) in zip(examples, answers).reversed() {
            guard let block = example.answer else { continue }
            lines.replaceSubrange(block, with: answer.components(separatedBy: "\n"))
        }
        return lines.joined(separator: "\n")
    }

    /// Whether an answer matches the one shown. Times, UUIDs and the 16 hexadecimal digits of tags match any others;
    /// everything else must be equal byte for byte.
    static func fits(_ answer: String, _ shown: String) -> Bool { masked(answer) == masked(shown) }

    private static func masked(_ text: String) -> String {
        text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "(time)")
            .replacing(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/, with: "(id)")
            .replacing(/\b[0-9a-f]{16}\b/, with: "(tag)")
    }
}
