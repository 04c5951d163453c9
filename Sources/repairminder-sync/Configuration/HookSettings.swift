import CacheStore
import EntitySchema
import Glibc
import SystemCalls

/// One hook of the configuration.
struct HookSettings: Sendable, Equatable {
    enum Recipient: Sendable, Equatable {
        /// A program's path, and its arguments, which are filled in from the event.
        case command(String, [Template])
        /// An address on this machine, and the file with the secrets that sign what is posted; nil for reminders that are
        /// not signed.
        case webhook(String, secretFile: String?)

        var isWebhook: Bool { if case .webhook = self { true } else { false } }
    }

    var rule: HookRule
    var recipient: Recipient
    /// The limit for one attempt.
    var deadline: Duration
    /// After this many failures a delivery is parked.
    var attempts = Self.usualAttempts
    /// The program's limit in bytes; nil for none.
    var memory: Int?
    /// Where each key was set, for error messages.
    var places: [String: String] = [:]

    static let usualAttempts = 10

    /// The key of the configuration that names the file with the secrets.
    var secretKey: String { rule.isOfReminders ? "reminders.secret_file" : "hooks.\(rule.name).secret_file" }

    /// The names of what an argument can have besides fields of the record.
    static let ownPlaceholders = ["$hook", "$event", "$entity", "$id", "$key"]

    /// Why its program cannot be started now; nil if it can, and for a webhook. No error, because the program may be on
    /// a disk that is mounted later.
    var programWarning: String? {
        guard case .command(let path, _) = recipient else { return nil }
        let key = places["command"] ?? (rule.isOfReminders ? "reminders.command" : "hooks.\(rule.name).command")
        guard let file = stat(of: path) else {
            return errno == ENOENT || errno == ENOTDIR ? "\(key): \(path) does not exist" : nil
        }
        return file.isFile && file.st_mode & 0o111 != 0 ? nil : "\(key): \(path) is not an executable file"
    }

    /// Checks it against the schema.
    func check(_ schema: EntitySchema) throws(ConfigurationError) {
        guard let name = rule.entity else { return try checkArguments(nil) }
        guard let entity = schema[name] else {
            throw error("of", "the schema has no \(name)", name, schema.entities.map(\.name))
        }
        for condition in rule.conditions { try check(condition, entity) }
        try checkArguments(entity)
    }

    private func check(_ condition: HookRule.Condition, _ entity: Entity) throws(ConfigurationError) {
        let key = "where.\(condition.field)"
        guard let field = entity[field: condition.field] else {
            throw error(key, "\(entity.name) have no field \(condition.field)", condition.field, Self.names(entity))
        }
        guard !field.isStoredSealed else {
            throw ConfigurationError(place: places[key] ?? "", problem: "the field is encrypted; expected another one")
        }
        let known = field.kind == .boolean ? ["true", "false"] : field.enumValues
        guard let known, let unknown = condition.values.first(where: { !known.contains($0) }) else { return }
        throw error(key, "\(condition.field) has no value \(unknown)", unknown, known)
    }

    private func checkArguments(_ entity: Entity?) throws(ConfigurationError) {
        guard case .command(_, let arguments) = recipient else { return }
        let known = Self.ownPlaceholders + (entity.map(Self.names) ?? [])
        for name in arguments.flatMap(\.placeholders) where !known.contains(name) {
            guard let field = entity?[field: name] else {
                throw error("command", "there is nothing named {\(name)} to fill in", name, known)
            }
            throw ConfigurationError(
                place: places["command"] ?? "hooks.\(rule.name)",
                problem: "{\(name)} is encrypted, and every user of this machine can see a program's arguments; "
                    + (field.secret ? "no hook gets it" : "the program has it on its standard input"))
        }
    }

    /// Those that may be compared, and stand in arguments: none that is encrypted.
    private static func names(_ entity: Entity) -> [String] { entity.fields.filter { !$0.isStoredSealed }.map(\.name) }

    private func error(
        _ key: String, _ problem: String, _ name: String, _ known: [String]
    ) -> ConfigurationError {
        let near = Suggestion.nearest(to: name, among: known).map { "did you mean \($0)?" }
        return ConfigurationError(
            place: places[key] ?? "hooks.\(rule.name)",
            problem: "\(problem); \(near ?? "expected one of \(known.joined(separator: ", "))")")
    }
}
