import EntitySchema
import Glibc
import TestSupport
import Testing

@testable import CacheStore
@testable import repairminder_sync

@Suite("Hooks in the configuration")
struct HookConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let shop = """
        schema: shop
        upstream: { base_url: "http://localhost" }
        entities:
          orders:
            local: true
            fields:
              id: { type: string }
              number: { type: string }
              status: { type: enum, values: { open: Open, ready: Ready } }
              pin: { type: string, secret: true }
              address: { type: string, sealed: true }
        """

    /// `text`: the parts of the hook `label`.
    private func hook(_ text: String) throws -> HookSettings {
        try #require(try folder.configuration(yaml: "hooks:\n  label: { \(text) }\n").hooks.first)
    }

    @Test("a program that is missing, or not an executable file, is a warning that names the key")
    func missingProgram() throws {
        let file = try folder.write("echo", to: "label")
        for (path, words) in [
            ("/nonexistent/label", "does not exist"), ("\(file)/label", "does not exist"),
            (file, "is not an executable file"), ("/usr", "is not an executable file"),
        ] {
            let warning = try hook("on: offline, command: \(path)").programWarning
            #expect(warning?.contains("hooks.label.command: \(path) \(words)") == true, "\(warning ?? "")")
        }
        #expect(try hook("on: offline, command: /bin/sh").programWarning == nil)
    }

    private func schemaRefusal(_ text: String) throws -> String? {
        let schema = try EntitySchema(yaml: Self.shop, file: "shop.yaml")
        do {
            try hook(text).check(schema)
            return nil
        } catch let error as ConfigurationError {
            return error.problem
        }
    }

    @Test
    func `a hook has its defaults, and paths start from the file's folder`() throws {
        let hook = try hook(#"on: changed, of: orders, where: { status: ready }, command: [bin/print, "{number}"]"#)
        #expect(hook.rule.events == [.changed] && hook.rule.entity == "orders")
        #expect(hook.rule.conditions == [HookRule.Condition(field: "status", values: ["ready"])])
        #expect(hook.recipient == .command("\(folder.path)/bin/print", [try #require(Template("{number}"))]))
        #expect(hook.deadline == .seconds(30) && hook.attempts == 10 && hook.memory == 1 << 30)
    }

    @Test(arguments: [
        ("on: chnaged, of: orders, command: /x", "hooks.label.on: there is no event chnaged; did you mean changed?"),
        ("on: changed, command: /x", "hooks.label: of is missing; changed is about the records of an entity"),
        ("on: offline, comand: /x", "hooks.label.comand: unknown key; did you mean command?"),
        ("on: offline", "hooks.label: command and webhook are missing; expected one of them"),
        (
            "on: offline, command: /x, deadline: 1h",
            "hooks.label.deadline: \"1h\" is not valid; expected a duration such as 30s, from 1s to 10m"
        ),
        (
            "on: offline, webhook: 'http://127.0.0.1:1/x'",
            "hooks.label: secret_file is missing; a webhook needs a file with the secret that signs it"
        ),
        (
            "on: offline, webhook: 'http://example.com/x', secret_file: s",
            "hooks.label.webhook: \"http://example.com/x\" is not valid; expected a URL on this machine, such as "
                + "http://127.0.0.1:8123/orders"
        ),
    ])
    func `a mistake is refused with line, key and what to do`(text: String, message: String) throws {
        #expect(try folder.refusal(yaml: "hooks:\n  label: { \(text) }\n") == "config.yaml:2: \(message)")
    }

    @Test(arguments: [
        ("on: changed, of: ordes, command: /x", "the schema has no ordes; did you mean orders?"),
        (
            "on: changed, of: orders, where: { statsu: ready }, command: /x",
            "orders have no field statsu; did you mean status?"
        ),
        (
            "on: changed, of: orders, where: { status: redy }, command: /x",
            "status has no value redy; did you mean ready?"
        ),
        (
            #"on: changed, of: orders, command: [/x, "{numbr}"]"#,
            "there is nothing named {numbr} to fill in; did you mean number?"
        ),
    ])
    func `what the schema does not have is refused with a suggestion`(text: String, problem: String) throws {
        #expect(try schemaRefusal(text) == problem)
    }

    @Test(arguments: [
        (
            #"on: changed, of: orders, command: [/x, "--to={address}"]"#,
            "{address} is encrypted, and every user of this machine can see a program's arguments; the program has it on "
                + "its standard input"
        ),
        (
            #"on: changed, of: orders, command: [/x, "{pin}"]"#,
            "{pin} is encrypted, and every user of this machine can see a program's arguments; no hook gets it"
        ),
    ])
    func `what is encrypted never stands in an argument, which every user can see`(text: String, problem: String) throws
    {
        #expect(try schemaRefusal(text) == problem)
    }

    @Test
    func `reminders are delivered by one more hook, whose name no other hook may have`() throws {
        let yaml = #"reminders: { command: "bin/notify --urgent={x}" }"#
        let schema = Self.shop + "\nreminders: { due: { of: orders, at: at, text: Due } }"
        let plain = try EntitySchema(yaml: Self.shop, file: "shop.yaml")
        let reminding = try EntitySchema(
            yaml: schema.replacing("pin:", with: "at: { type: time }\n      pin:"), file: "shop.yaml")
        let configuration = try folder.configuration(yaml: yaml)
        #expect(configuration.hooks(for: plain) == [])
        let hook = try #require(configuration.hooks(for: reminding).first)
        #expect(hook.rule == .reminders && hook.attempts == 10 && hook.deadline == .seconds(30))
        // Braces have no meaning in this key.
        #expect(
            hook.recipient == .command("\(folder.path)/bin/notify", [Template(parts: [.text("--urgent={x}")])]))
        try folder.write(Self.shop, to: "s.yaml")
        let file = try folder.write(
            "schema: ./s.yaml\n\(yaml)\nhooks: { reminders: { on: offline, command: /bin/true } }", to: "config.yaml")
        let reader = SetupReader(path: file, flags: [:], environment: folder.environment())
        let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
        #expect(error?.place == "hooks.reminders")
    }

    @Test
    func `the secret of reminders is checked, and needs a webhook`() throws {
        try folder.write(Self.shop, to: "s.yaml")
        for (recipient, problem) in [
            ("webhook: \"http://127.0.0.1:1/x\"", "is missing; check reminders.secret_file"),
            ("command: /bin/true", "it signs what reminders.webhook gets"),
        ] {
            let file = try folder.write(
                "schema: ./s.yaml\nreminders: { \(recipient), secret_file: none }\n", to: "config.yaml")
            let reader = SetupReader(path: file, flags: [:], environment: folder.environment())
            let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
            #expect(error?.place == "reminders.secret_file" && error?.problem.contains(problem) == true)
        }
    }
}
