/// Finds values of flags that the parser overlooks: it takes such a flag for one without a value, or the next word for its value.
enum FlagValues {
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
