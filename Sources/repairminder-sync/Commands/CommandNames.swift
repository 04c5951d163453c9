import ArgumentParser
import EntitySchema

/// Finds mistyped commands, which the parser would take for arguments.
enum CommandNames {
    /// Why the words name no command, with the likely one; nil if they do or if the parser has to say.
    static func mistake(in words: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = ""
        var words = plainPlaces(in: words).map { words[$0] }
        if words.first == "help" { words.removeFirst() }
        for word in words {
            let names = command.configuration.subcommands.compactMap { $0.configuration.commandName }
            guard !names.isEmpty, !word.hasPrefix("-") else { return nil }
            if word == "help" { return "for help write repairminder-sync \(path)--help" }
            if let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word }) {
                command = next
                path += "\(word) "
                continue
            }
            let near = Suggestion.nearest(to: word, among: names)
            // `queue 4` shows a change, and so may `queue '#4'`.
            if command.configuration.defaultSubcommand != nil, word.contains(where: \.isNumber) { return nil }
            let hint = near.map { "did you mean \(path)\($0)?" } ?? "repairminder-sync \(path)--help lists them"
            return "there is no command \(path)\(word); \(hint)"
        }
        return nil
    }

    /// Says that flags stand before the second word of a command, as in `queue --json retry 4`: the parser would take it for an id.
    static func lateWord(in words: [String], of root: any ParsableCommand.Type) -> String? {
        let places = plainPlaces(in: words)
        guard places.count > 1, places[1] > places[0] + 1 else { return nil }
        let (first, second) = (words[places[0]], words[places[1]])
        guard let command = root.configuration.subcommands.first(where: { $0.configuration.commandName == first }),
            command.configuration.defaultSubcommand != nil,
            command.configuration.subcommands.contains(where: { $0.configuration.commandName == second })
        else { return nil }
        return "write \(first) \(second) before the flags"
    }

    /// Says how to name a record, where the words have its entity and its id in one, as an address has: `get orders/1486`.
    static func joinedID(in words: [String]) -> String? {
        guard let command = words.first(where: { !$0.hasPrefix("-") }), ofRecords.contains(command),
            let word = RecordCompletion.entity(in: [""] + words), let name = word.wholeMatch(of: #/(\w+)/(.+)/#)
        else { return nil }
        let meant = ofOneRecord.contains(command) ? command : "get"
        return "\(word) is no entity; to name one record, write \(meant) \(name.1) \(name.2)"
    }

    private static let ofOneRecord: Set = ["get", "set", "edit", "delete", "history", "diff"]
    private static let ofRecords = ofOneRecord.union(["list", "create"])

    /// Flags that many commands have, and that say nothing about which word is the command.
    private static let flags: Set = ["--json", "--wide", "--count"]

    /// Where the words stand that are neither such flags nor their values.
    private static func plainPlaces(in words: [String]) -> [Int] {
        var isValue = false
        return words.indices.filter { place in
            let word = words[place]
            defer { isValue = !isValue && RecordCompletion.connectionFlags.contains(word) }
            return !isValue && !flags.contains(word) && !RecordCompletion.connectionFlags.contains(word)
        }
    }
}
