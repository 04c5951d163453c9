import JSONText
import Testing

@testable import EntitySchema

@Suite("Templates over named values")
struct ValueTemplateTests {
    private static func value(_ name: ValueTemplate.Name) -> JSONText? {
        switch name {
        case .value("since"): "2026-01-31T09:00:00.750Z"
        case .value("page"): 3
        case .secret("password"): "p\"w"
        case .now(let span): .string((Timestamp(milliseconds: 1_769_850_000_000) + span).description)
        case .field("total"): 12
        default: .none
        }
    }

    @Test(
        "a text has each value in its format",
        arguments: [
            ("after {$since:epoch}", "after 1769850000"), ("{$since:date}", "2026-01-30"),
            ("(updated>={$since:quoted})", "(updated>=\"2026-01-31T09:00:00.750Z\")"),
            ("{$now-90d:epoch}", "1762074000"), ("{$now:iso_space}", "2026-01-31 09:00:00.000Z"),
            ("{$now+1h:epoch_ms}", "1769853600000"), ("page {$page} of {total}", "page 3 of 12"),
            ("{$secret.password}", "p\"w"), ("plain", "plain"),
        ])
    func texts(_ source: String, _ expected: String) throws {
        let template = try #require(ValueTemplate(source))
        #expect(template.text(Self.value) == expected)
    }

    @Test("a lone placeholder keeps the type of its value")
    func types() throws {
        #expect(try #require(ValueTemplate("{$page}")).json(Self.value) == 3)
        #expect(try #require(ValueTemplate("{$since:epoch}")).json(Self.value) == 1_769_850_000)
        #expect(try #require(ValueTemplate("{$page}.")).json(Self.value) == "3.")
    }

    @Test("a template without one of its values has no text")
    func missing() throws {
        #expect(try #require(ValueTemplate("{$cursor}")).text(Self.value) == nil)
    }

    @Test(
        "what is no template is refused", arguments: ["{$since", "{}", "{$since:epoc}", "{$now-90}", "{$now-d}", "}"])
    func refused(_ source: String) {
        #expect(ValueTemplate(source) == nil)
    }

    private static func schema(_ path: String, _ settings: [String: String]) throws -> EntitySchema {
        let yaml = """
            schema: small
            upstream: { base_url: "https://{$setting.host}" }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: "\(path)" } } }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml", settings: settings)
    }

    @Test("settings stand in any text of the schema")
    func settings() throws {
        let schema = try Self.schema("/{$setting.tenant}/notes", ["host": "one.example", "tenant": "acme"])
        #expect(schema.upstream.baseURL == "https://one.example")
        #expect(schema["notes"]?.pull?.path == "/acme/notes")
    }

    @Test(
        "a setting that is missing, or would be a template, is refused with its line and key",
        arguments: [
            ("/{$setting.tennant}", ["host": "a", "tenant": "b"], "did you mean tenant?"),
            ("/{$setting.tenant}", ["host": "a", "tenant": "{id}"], "without { and }"),
            ("/{$setting.tenant", ["host": "a"], "a } is missing"),
        ])
    func refusedSettings(_ path: String, _ settings: [String: String], _ words: String) {
        #expect {
            try Self.schema(path, settings)
        } throws: { error in
            guard let error = error as? SchemaError else { return false }
            return error.problem.contains(words) && error.line == 3 && error.key == "entities.notes.pull.path"
        }
    }
}
