import TestSupport
import Testing

@testable import EntitySchema

/// Mistakes in `upstream.answers`.
@Suite("Rules for answers in a schema")
struct AnswerRuleTests {
    private func problem(_ rule: String) throws -> String {
        let error = #expect(throws: SchemaError.self) {
            try EntitySchema(
                yaml: """
                    schema: s
                    upstream:
                      answers:
                        - \(rule)
                    entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                    """, file: "s.yaml")
        }
        return try #require(error).description
    }

    @Test(
        "each mistake is refused with its line and key, and the message says what is expected",
        arguments: [
            ("{ status: 404, means: gon }", "upstream.answers.0.means: gon is not known here; did you mean gone?"),
            ("{ status: 4x, means: gone }", "4x is not a status; expected a number from 200 to 599, or such as 4xx"),
            ("{ status: 99, means: gone }", "99 is not a status"),
            ("{ means: gone }", "expected status, header or when"),
            ("{ status: 404 }", "the key means is missing"),
            ("{ status: 404, means: gone, until: { header: A } }", "until belongs to means: throttled"),
            ("{ status: 429, means: throttled, until: {} }", "expected either header or at"),
            ("{ status: 429, means: throttled, until: { header: A, at: b } }", "expected either header or at"),
            ("{ when: { .ne: x }, means: ok }", "expected a place in the answer"),
            ("{ header: { \"a b\": x }, means: ok }", "expected the name of a header"),
            ("{ statuss: 404, means: gone }", "unknown key statuss; did you mean status?"),
        ])
    func mistakes(_ rule: String, _ words: String) throws {
        let problem = try problem(rule)
        #expect(problem.contains(words))
        #expect(problem.contains("s.yaml:4") || problem.contains("line 4"))
    }

    @Test("the time to settle is read from the schema")
    func settle() throws {
        let yaml = """
            schema: small
            upstream: { base_url: "http://localhost", settle: 5s }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """
        #expect(try EntitySchema(yaml: yaml, file: "x.yaml").upstream.settle == .seconds(5))
        #expect(throws: SchemaError.self) {
            try EntitySchema(yaml: yaml.replacing("settle: 5s", with: "settle: 2h"), file: "x.yaml")
        }
    }
}
