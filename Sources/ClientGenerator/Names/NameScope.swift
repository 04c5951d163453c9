/// The identifiers of one place in generated code, each given once.
///
/// The same names in the same order always get the same identifiers.
struct NameScope {
    private var used: Set<String>
    /// Names that mean something else in this place.
    private let reserved: Set<String>
    /// What makes a name another one that is reserved, or that would begin with a digit or be empty.
    private let word: String
    private let style: Style

    enum Style {
        case camel, pascal, snake, constant
    }

    init(_ style: Style, reserved: Set<String>, word: String) {
        self.style = style
        self.reserved = reserved
        self.word = word
        used = reserved
    }

    /// A new identifier for a name: `order_number` → `orderNumber`, and `orderNumber2` if that was given before.
    mutating func name(_ words: Words) -> String {
        var name = styled(words)
        if name.isEmpty || name.first?.isNumber == true { name = styled(Words("\(word)_\(words.snake)")) }
        if reserved.contains(name) { name = styled(Words("\(words.snake)_\(word)")) }
        var number = 2
        var unique = name
        while !used.insert(unique).inserted {
            // Not `line12` for the second `line1`.
            unique =
                name + (name.last?.isNumber == true || style == .snake || style == .constant ? "_" : "") + "\(number)"
            number += 1
        }
        return unique
    }

    private func styled(_ words: Words) -> String {
        switch style {
        case .camel: words.camel
        case .pascal: words.pascal
        case .snake: words.snake
        case .constant: words.snake.uppercased()
        }
    }
}
