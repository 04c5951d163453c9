import Foundation

/// The examples of a Markdown file: commands in a `sh` block, and the answer in the block right below it.
struct Manual {
    struct Example {
        /// Where its commands begin in the file, counted from 1.
        var line: Int
        var commands: String
        /// The lines of its answer, counted from 0; nil where none is shown, since nothing is printed.
        var answer: Range<Int>?
    }

    private(set) var examples: [Example] = []
    /// Where answers begin that belong to no commands.
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

    /// The whole text with these answers, one for each example, in place of those that it has.
    func text(answering answers: [String]) -> String {
        var lines = lines
        for (example, answer) in zip(examples, answers).reversed() {
            guard let block = example.answer else { continue }
            lines.replaceSubrange(block, with: answer.components(separatedBy: "\n"))
        }
        return lines.joined(separator: "\n")
    }

    /// Whether an answer is the one that is shown: a time stands for any time, a UUID for any, and 16 hexadecimal digits, as
    /// tags have them, for any; all else must be the same to the letter.
    static func fits(_ answer: String, _ shown: String) -> Bool { masked(answer) == masked(shown) }

    private static func masked(_ text: String) -> String {
        text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "(time)")
            .replacing(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/, with: "(id)")
            .replacing(/\b[0-9a-f]{16}\b/, with: "(tag)")
    }
}
