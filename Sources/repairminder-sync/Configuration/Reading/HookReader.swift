import CacheStore
import EntitySchema
import Yams

/// Reads `hooks` of a configuration file; every mistake is reported with its line and key.
struct HookReader {
    let file: String
    /// The path that one in the file means.
    let resolved: (String) -> String

    private static let most = 32
    private static let keys = [
        "on", "of", "where", "command", "webhook", "secret_file", "deadline", "attempts", "memory",
    ]

    /// A value with the key that it has, as `hooks.label.on`.
    private struct Item {
        var key: String
        var node: Node
    }

    func hooks(_ node: Node) throws(ConfigurationError) -> [HookSettings] {
        let root = Item(key: "hooks", node: node)
        var hooks: [HookSettings] = []
        for (name, item) in try members(of: root) {
            guard !name.isEmpty, name.utf8.count <= 40, name.utf8.allSatisfy(Self.isNameByte) else {
                throw error(item, "the name of a hook has lower-case letters, digits, - and _, at most 40")
            }
            hooks.append(try hook(name, item))
        }
        return hooks
    }

    /// Throws for more hooks than a daemon has, of all files up to the one with `node`.
    func requireFew(_ hooks: [HookSettings], _ node: Node) throws(ConfigurationError) {
        guard hooks.count > Self.most else { return }
        throw error(Item(key: "hooks", node: node), "there are more than \(Self.most) hooks; remove some")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
    }

    private func hook(_ name: String, _ item: Item) throws(ConfigurationError) -> HookSettings {
        var parts: [String: Item] = [:]
        for (key, part) in try members(of: item) {
            guard Self.keys.contains(key) else {
                let near = Suggestion.nearest(to: key, among: Self.keys).map { "did you mean \($0)?" }
                throw error(part, "unknown key; \(near ?? "the keys are \(Self.keys.joined(separator: ", "))")")
            }
            parts[key] = part
        }
        var places = parts.mapValues(place)
        var rule = HookRule(name: name, events: try events(parts["on"], item))
        if let of = parts["of"] { rule.entity = try text(of) }
        if let item = parts["where"] {
            for (field, part) in try members(of: item) {
                rule.conditions.append(HookRule.Condition(field: field, values: try texts(part)))
                places["where.\(field)"] = place(part)
            }
        }
        try check(rule, parts, item)
        return HookSettings(
            rule: rule, recipient: try recipient(parts, item),
            deadline: try value(
                parts["deadline"], "a duration such as 30s, from 1s to 10m", .seconds(30), Self.deadline),
            attempts: try value(
                parts["attempts"], "a whole number from 1 to 100", HookSettings.usualAttempts, Self.attempts),
            memory: try memory(parts["memory"]), places: places)
    }

    // MARK: Parts

    private func events(_ item: Item?, _ hook: Item) throws(ConfigurationError) -> [HookEvent] {
        let known = HookEvent.named.map(\.rawValue)
        guard let item else { throw error(hook, "on is missing; expected one of \(known.joined(separator: ", "))") }
        var events: [HookEvent] = []
        for word in try texts(item) {
            guard let event = HookEvent.named.first(where: { $0.rawValue == word }) else {
                let near = Suggestion.nearest(to: word, among: known).map { "did you mean \($0)?" }
                throw error(
                    item, "there is no event \(word); \(near ?? "expected one of \(known.joined(separator: ", "))")")
            }
            events.append(event)
        }
        guard !events.isEmpty else {
            throw error(item, "the list is empty; expected one of \(known.joined(separator: ", "))")
        }
        return events
    }

    private func check(_ rule: HookRule, _ parts: [String: Item], _ hook: Item) throws(ConfigurationError) {
        if let event = rule.events.first(where: { !$0.isOfUpstream }), rule.entity == nil {
            throw error(hook, "of is missing; \(event.rawValue) is about the records of an entity")
        }
        if let item = parts["where"], let event = rule.events.first(where: { !$0.isOfRecord }) {
            throw error(
                item, "\(event.rawValue) has no values to test; expected only created, changed or deleted in on")
        }
    }

    private func recipient(
        _ parts: [String: Item], _ hook: Item
    ) throws(ConfigurationError) -> HookSettings.Recipient {
        switch (parts["command"], parts["webhook"]) {
        case (nil, nil): throw error(hook, "command and webhook are missing; expected one of them")
        case (_?, let webhook?): throw error(webhook, "command is also set; remove one of them")
        case (let command?, nil):
            if let item = parts["secret_file"] {
                throw error(item, "it signs what a webhook gets; a command has no use for it")
            }
            return try program(command)
        case (nil, let webhook?):
            let url = try text(webhook)
            guard ConfigurationValues.isOfThisMachine(url) else {
                throw error(
                    webhook,
                    "\"\(url)\" is not valid; expected a URL on this machine, such as http://127.0.0.1:8123/orders")
            }
            if let item = parts["memory"] { throw error(item, "it is a limit of a command; a webhook has none") }
            guard let secret = parts["secret_file"] else {
                throw error(hook, "secret_file is missing; a webhook needs a file with the secret that signs it")
            }
            return .webhook(url, secretFile: resolved(try text(secret)))
        }
    }

    /// A list of words, or a text that is split at its spaces.
    private func program(_ item: Item) throws(ConfigurationError) -> HookSettings.Recipient {
        let isList = item.node.sequence != nil
        let words = isList ? try texts(item) : try text(item).split(separator: " ").map(String.init)
        guard let program = words.first, !program.isEmpty, !program.contains("{") else {
            throw error(item, "the first word is not a program; expected its path")
        }
        var arguments: [Template] = []
        for word in words.dropFirst() {
            guard let template = Template(word) else {
                throw error(item, "\"\(word)\" has a { or } alone; expected a name between them, such as {$id}")
            }
            arguments.append(template)
        }
        return .command(resolved(program), arguments)
    }

    // MARK: Values

    private static func deadline(_ text: String) -> Duration? {
        Duration(text: text).flatMap { (Duration.seconds(1)...Duration.seconds(600)).contains($0) ? $0 : nil }
    }

    private static func attempts(_ text: String) -> Int? { Int(text).flatMap { (1...100).contains($0) ? $0 : nil } }

    /// Nil for `off`.
    private func memory(_ item: Item?) throws(ConfigurationError) -> Int? {
        let usual = 1 << 30
        guard let item else { return usual }
        if try text(item) == "off" { return nil }
        return try value(item, "a size such as 256MiB, or off", usual, { ByteCount(text: $0)?.bytes })
    }

    private func members(of item: Item) throws(ConfigurationError) -> [(String, Item)] {
        guard let mapping = item.node.mapping else { throw error(item, "expected a mapping (name: value)") }
        var members: [(String, Item)] = []
        for (nameNode, node) in mapping where !node.isNull {
            guard let name = nameNode.string else {
                throw error(Item(key: item.key, node: nameNode), "expected a text key")
            }
            members.append((name, Item(key: "\(item.key).\(name)", node: node)))
        }
        return members
    }

    private func text(_ item: Item) throws(ConfigurationError) -> String {
        guard let scalar = item.node.scalar else { throw error(item, "expected a single value") }
        guard !scalar.string.isEmpty else { throw error(item, "the value is empty") }
        return scalar.string
    }

    /// One, or a list of them.
    private func texts(_ item: Item) throws(ConfigurationError) -> [String] {
        guard let sequence = item.node.sequence else { return [try text(item)] }
        var texts: [String] = []
        for node in sequence {
            guard let scalar = node.scalar else {
                throw error(Item(key: item.key, node: node), "expected single values in the list")
            }
            texts.append(scalar.string)
        }
        return texts
    }

    private func value<Value>(
        _ item: Item?, _ expected: String, _ fallback: Value, _ parse: (String) -> Value?
    ) throws(ConfigurationError) -> Value {
        guard let item else { return fallback }
        let text = try text(item)
        guard let value = parse(text) else { throw error(item, "\"\(text)\" is not valid; expected \(expected)") }
        return value
    }

    private func place(_ item: Item) -> String {
        let line = item.node.mark.map { ":\($0.line)" } ?? ""
        return "\(file)\(line): \(item.key)"
    }

    private func error(_ item: Item, _ problem: String) -> ConfigurationError {
        ConfigurationError(place: place(item), problem: problem)
    }
}
