internal import EntitySchema

/// A piece of YAML with comments.
indirect enum YAMLNode {
    case text(String)
    /// A number or a boolean, without quotes.
    case word(String)
    case list([YAMLNode])
    case mapping([Member])
    /// A mapping with one line for each member.
    case block([Member])

    struct Member {
        var key: String
        var value: YAMLNode
        /// At the end of the line, or above a long one.
        var comment: String?
        /// Lines of comments above.
        var above: [String] = []
        /// Without a value: only the lines above.
        var isComment = false

        init(_ key: String, _ value: YAMLNode, _ comment: String? = nil, above: [String] = []) {
            self.key = key
            self.value = value
            self.comment = comment
            self.above = above
        }

        static func comment(_ lines: [String]) -> Member {
            var member = Member("", .text(""), above: lines)
            member.isComment = true
            return member
        }
    }

    /// In one line.
    var inline: String {
        switch self {
        case .text(let text): YAMLText.scalar(text)
        case .word(let word): word
        case .list(let elements): "[\(elements.map(\.inline).joined(separator: ", "))]"
        case .mapping(let members), .block(let members):
            members.isEmpty
                ? "{}"
                : "{ \(members.filter { !$0.isComment }.map { "\(YAMLText.scalar($0.key)): \($0.value.inline)" }.joined(separator: ", ")) }"
        }
    }

    /// The lines of a block's members.
    func lines(indent: Int = 0) -> [String] {
        guard case .block(let members) = self else { return [inline] }
        let space = String(repeating: " ", count: indent)
        return members.flatMap { member -> [String] in
            var lines = member.above.flatMap { YAMLText.comment($0) }.map { space + $0 }
            if member.isComment { return lines }
            let key = space + YAMLText.scalar(member.key) + ":"
            if case .block = member.value {
                lines += (member.comment.map { YAMLText.comment($0).map { space + $0 } } ?? []) + [key]
                return lines + member.value.lines(indent: indent + 2)
            }
            let line = "\(key) \(member.value.inline)"
            guard let comment = member.comment else { return lines + [line] }
            let words = YAMLText.comment(comment)
            if words.count == 1, line.count + words[0].count < 118 { return lines + ["\(line)  \(words[0])"] }
            return lines + words.map { space + $0 } + [line]
        }
    }
}

extension [YAMLNode.Member] {
    /// Adds a member, if there is a text for it.
    mutating func add(_ key: String, _ text: String?, _ comment: String? = nil) {
        if let text { append(YAMLNode.Member(key, .text(text), comment)) }
    }

    mutating func add(_ key: String, _ text: Guess<String>?) { add(key, text?.value, text?.reason) }
}
