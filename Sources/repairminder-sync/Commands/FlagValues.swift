/// Finds values that the parser overlooks: it takes a flag for one without a value, the next word for its value, or an empty
/// word for an id.
enum FlagValues {
    /// Says that a word is empty, as where a script has a variable without a value: an empty id or name would lead to another
    /// address or to the current folder. Nil if none is, and for `api`, whose body may be empty.
    static func emptyWord(in words: [String]) -> String? {
        guard words.first(where: { !$0.hasPrefix("-") }) != "api", let index = words.firstIndex(of: "") else {
            return nil
        }
        let place = index == 0 ? "the first argument" : "the argument after \(words[index - 1])"
        return "\(place) is empty; if it is a variable of a script, give the variable a value"
    }

    /// What is wrong with a word such as `--wait=soon` or `--listen.allow-remote=`; nil if the parser has to say.
    static func mistake(in words: [String]) -> String? {
        let command = words.first { !$0.hasPrefix("-") }
        let waits = ["set", "create", "delete"].contains(command)
        for word in words.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            guard let equals = word.firstIndex(of: "=") else { continue }
            let name = String(word[..<equals].dropFirst(2))
            let value = word[word.index(after: equals)...]
            if waits, name == "wait", Int(value) == nil { return WaitOption.expected }
            if value.isEmpty {
                return "--\(name)= has no value" + (switches.contains(name) ? "; expected true or false" : "")
            }
        }
        return nil
    }

    private static let switches = Set(ConfigurationKey.switches.map(\.flag))
}
