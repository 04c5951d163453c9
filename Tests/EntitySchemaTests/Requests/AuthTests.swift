import Testing

@testable import EntitySchema

@Suite("Sign-in in schema files")
struct AuthTests {
    private static func upstream(_ auth: String) throws -> UpstreamPlan {
        let yaml = """
            schema: small
            upstream:
              base_url: http://localhost
              auth: \(auth)
            entities:
              notes: { fields: { id: { type: string } }, pull: { path: /notes } }
            """
        return try EntitySchema(yaml: yaml, file: "small.yaml").upstream
    }

    private static let refresh = "refresh: { path: /refresh, send: token, token: access }"

    @Test("a sign-in method is a list of calls, each with its questions, sent and kept values")
    func steps() throws {
        let plan = try Self.upstream(
            """
            { \(Self.refresh), login: { mail: [
                { call: POST /start, ask: { name: Name, word: Word }, secret: [word], keep: { who: [a.b, c] } },
                { call: POST /end, send: [who], ask: { code: Code } } ] } }
            """)
        let way = try #require(plan.login.first)
        #expect(way.name == "mail" && way.steps.map(\.path) == ["/start", "/end"])
        #expect(
            way.questions == [
                .init(name: "name", text: "Name", secret: false), .init(name: "word", text: "Word", secret: true),
                .init(name: "code", text: "Code", secret: false),
            ])
        #expect(way.steps[0].keep == [.init(name: "who", place: Place(paths: ["a.b", "c"]))])
        #expect(way.steps[1].send == ["who"])
    }

    @Test(
        "an invalid sign-in is rejected",
        arguments: [
            ("{ login: { a: [{ call: POST /x }] } }", "login needs refresh beside it"),
            ("{ \(refresh), login: { a: [{ call: GET /x }] } }", "expected POST and a path"),
            ("{ \(refresh), login: { a: [] } }", "expected a list of calls"),
            ("{ \(refresh), login: { a: [{ call: POST /x, secret: [b] }] } }", "b is not asked for here"),
            (
                "{ \(refresh), login: { a: [{ call: POST /x, ask: { code: C } }, { call: POST /y, send: [cod] }] } }",
                "did you mean code?"
            ),
            ("{ \(refresh), login: { a: [{ call: POST /x, send: [b], ask: { b: B } }] } }", "no earlier step"),
        ])
    func refusals(_ auth: String, _ message: String) {
        expectRefusal(message) { try Self.upstream(auth) }
    }
}
