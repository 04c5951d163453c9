import Testing

@testable import EntitySchema

@Suite("What is wrong in a schema is named, with what to write")
struct WrongSchemaTests {
    private static func error(
        upstream: String = "{ base_url: http://localhost, pagination: { style: page } }", pull: String = "path: /notes",
        fields: String = "id: { type: string }, text: { type: string }", entity: String = "",
        push: String = #"update: { call: "PATCH /notes/{id}" }"#
    ) -> SchemaError? {
        refusal(
            of: """
                schema: small
                upstream: \(upstream)
                entities:
                  lists:
                    fields: { id: { type: string } }
                    many: { notes: { of: notes, by: list_id } }
                    pull: { path: /lists }
                  notes:
                    fields: { list_id: { type: reference, to: lists }, \(fields) }
                    pull: { \(pull) }
                    push: { \(push) }
                \(entity.isEmpty ? "" : "    ")\(entity)
                """)
    }

    @Test("the schema that the others change is accepted")
    func accepted() { #expect(Self.error()?.description == nil) }

    @Test(
        "a mistake in upstream",
        arguments: [
            ("records: data..items", "records", "a dot without a name"),
            ("records: data.", "records", "a dot without a name"),
            ("records: \"data.{id}\"", "records", "no values in braces"),
            ("probe: \"/up/{id}\"", "probe", "without braces"),
            ("probe: { up: now }", "probe", "quotes around one that begins with a brace"),
            ("account: { path: \"/me/{id}\", id: id }", "account.path", "without braces"),
            (
                "answers: [{ status: 404, means: gone }, { status: 404, when: { a: b }, means: ok }]", "answers.1",
                "answers.0 comes first"
            ),
            (
                "answers: [{ status: 4xx, means: refused }, { status: [404, 410], means: gone }]", "answers.1",
                "answers.0 comes first"
            ),
            (
                "limits: [{ requests: 10, per: 1m }, { requests: 100, per: 1m }]", "limits.1", "one is never reached"
            ),
            ("limits: [{ requests: 100, per: 1s }, { requests: 50, per: 1h }]", "limits.1", "one is never reached"),
            ("version: { field: rev, header: Content-Type }", "version.header", "set by the daemon itself"),
            ("version: { field: meta..id, header: If-Match }", "version.field", "a dot without a name"),
            ("version: { field: [rev, etag], header: If-Match }", "version.field", "expected one place"),
            ("version: { field: lines.*.rev, header: If-Match }", "version.field", "expected one place"),
            ("version: { field: at, header: If-Unmodified-Since }", "version.header", "servers would ignore it"),
            ("answers: [{ when: { a..b: c }, means: ok }]", "answers.0.when.a..b", "a dot without a name"),
            (
                "batch: { call: POST /b, element: { k: \"{$key}\", b: $body }, by: { n: \"{$id}\" } }", "batch.by.n",
                "has no {$id} that a result could repeat"
            ),
        ])
    func upstream(_ text: String, _ key: String, _ words: String) {
        let upstream = "{ base_url: http://localhost, pagination: { style: page }, \(text) }"
        expectRefusal(Self.error(upstream: upstream), "upstream.\(key)", words)
    }

    @Test("rules of answers that differ in what they fit are accepted")
    func rules() {
        let rules =
            "[{ status: 404, when: { a: b }, means: ok }, { status: 404, means: gone }, { status: 4xx, means: refused }]"
        #expect(Self.error(upstream: "{ base_url: http://localhost, answers: \(rules) }")?.description == nil)
    }

    @Test("an address with parameters is refused, because paths are added to it", arguments: ["?key=1", "#a"])
    func address(_ end: String) {
        expectRefusal(
            Self.error(upstream: "{ base_url: \"http://localhost/\(end)\" }"), "upstream.base_url",
            "paths are added to this address")
    }

    @Test(
        "a value that something else is missing for says what that is",
        arguments: [
            ("{$cursor}", "it needs style: cursor in pagination"),
            ("{$offset}", "it needs style: offset in pagination"),
            ("{$last}", "it needs style: offset in pagination"),
            ("{$since}", "it needs since: { field: … }"), ("{$delta}", "it needs since: { token: … }"),
            ("{$until}", "it needs where"), ("{$pge}", "did you mean $page?"),
        ])
    func missing(_ value: String, _ words: String) {
        expectRefusal(
            Self.error(pull: #"path: /notes, query: { a: "\#(value)" }"#), "entities.notes.pull.query.a",
            "\(value) cannot stand here")
        #expect(Self.error(pull: #"path: /notes, query: { a: "\#(value)" }"#)?.problem.contains(words) == true)
    }

    @Test("a value that can be missing is not proposed for a path")
    func paths() {
        let error = Self.error(
            pull: #"path: "/notes/{$since}", since: { param: a, field: at }"#,
            fields: "id: { type: string }, at: { type: time }")
        expectRefusal(error, "entities.notes.pull.path", "{$since} cannot stand here: it can be missing")
    }

    @Test("a page size in query that pagination sends, too, is refused")
    func pageSizes() {
        let words = "limit is what pagination sends, with its page_size (100)"
        expectRefusal(
            Self.error(pull: "path: /notes, query: { limit: 50 }"), "entities.notes.pull.query", words)
        let accepted = [
            "query: { limit: \"{$size}\" }", "query: { size: 50 }",
            "query: { limit: 50 }, pagination: { style: single }",
            "query: { limit: 50 }, pagination: { style: page, size: none }",
        ]
        for pull in accepted { #expect(Self.error(pull: "path: /notes, \(pull)")?.description == nil) }
    }

    @Test("change times that are numbers name the form for them, and where that of the request stands")
    func numberedTimes() {
        let fields = "id: { type: string }, at: { type: integer }"
        let since = "path: /notes, since: { param: a, field: at, format: yyyy-MM-dd HH:mm }"
        let error = Self.error(pull: since, fields: fields)
        expectRefusal(error, "entities.notes.pull.since.field", "set since.format to epoch")
        expectRefusal(error, "entities.notes.pull.since.field", "as in {$since:yyyy-MM-dd}")
        let right = "path: /notes, query: { a: \"{$since:yyyy-MM-dd HH:mm}\" }, since: { field: at, format: epoch }"
        #expect(Self.error(pull: right, fields: fields)?.description == nil)
        for mode in ["newest_first", "full"] {
            let none = "path: /notes, mode: \(mode), changed_at: at"
            #expect(Self.error(pull: none, fields: fields)?.description == nil)
        }
    }

    @Test("only a text can be filled")
    func filled() {
        func fields(_ type: String) -> String { "id: { type: string }, text: { type: \(type), required: filled }" }
        expectRefusal(
            Self.error(fields: fields("integer")), "entities.notes.fields.text.required", "only a field of type string")
        #expect(Self.error(fields: fields("string"))?.description == nil)
    }

    @Test("pagination in one word is refused with a mapping")
    func pagination() {
        expectRefusal(
            Self.error(upstream: "{ pagination: page }"), "upstream.pagination", "such as { style: page, page: page }")
    }

    @Test("a condition on a boolean that is neither true nor false is refused")
    func booleans() {
        let fields = "id: { type: string }, done: { type: boolean }"
        let error = Self.error(pull: "path: /notes, where: { done: perhaps }", fields: fields)
        expectRefusal(error, "entities.notes.pull.where.done", "done is true or false")
        #expect(Self.error(pull: "path: /notes, where: { done: [true, null] }", fields: fields)?.description == nil)
    }

    @Test("a content that is written without the key of its record is refused")
    func contents() {
        expectRefusal(
            Self.error(entity: #"content: { path: "/notes/{id}/scan", upload: { call: PUT /scan } }"#),
            "entities.notes.content.upload", "does not say which record it changes")
    }

    @Test("a field that cannot be in a body, and a value of lists, are told apart")
    func bodies() {
        expectRefusal(
            Self.error(push: #"update: { call: "PATCH /notes/{id}", body: { a: "{$since}", b: $fields } }"#),
            "entities.notes.push.update", "{$since} cannot stand here; expected a field in braces")
    }

    @Test(
        "a mistake in an entity",
        arguments: [
            ("id: { type: number }", "fields.id", "a key is text or a whole number"),
            ("uid: { type: string }", "", "add it, or name the field that identifies a record in key"),
            ("id: { type: string }, text: { type: string, from: a..b }", "fields.text.from", "a dot without a name"),
            ("id: { type: string }, text: { type: enum, values: {} }", "fields.text.values", "at least one value"),
            (
                "id: { type: string }, text: { type: string, search: fragment }", "fields.text.search",
                "did you mean fragments?"
            ),
        ])
    func fields(_ fields: String, _ key: String, _ words: String) {
        let error = Self.error(fields: fields)
        #expect(error?.problem.contains(words) == true, "\(error?.description ?? "accepted")")
        #expect(
            error?.key.hasPrefix("entities.notes") == true && (key.hasSuffix("id") || error?.key.hasSuffix(key) == true)
        )
    }

    @Test("a reference to an entity that is not there is named before what depends on it")
    func references() {
        let error = Self.error(fields: "id: { type: string }, other_id: { type: reference, to: list }")
        expectRefusal(error, "entities.notes.fields.other_id", "there is no entity list; did you mean lists?")
    }

    @Test("a record that a path reaches through a relation of another name is proposed")
    func relations() {
        let error = Self.error(push: #"update: { call: "PATCH /lists/{lst.id}/notes/{id}" }"#)
        expectRefusal(error, "entities.notes.push.update", "refers to no record as lst; did you mean list?")
    }

    @Test("a space in an address is refused with what to write; between braces it belongs to a form of a time")
    func spaces() {
        let words = "write %20 for each of them"
        expectRefusal(Self.error(pull: "path: /sales notes"), "entities.notes.pull.path", words)
        expectRefusal(
            Self.error(pull: "path: /notes, record: { path: \"/sales notes/{id}\" }"),
            "entities.notes.pull.record.path",
            words)
        expectRefusal(Self.error(pull: "call: POST /sales notes"), "entities.notes.pull.call", words)
        expectRefusal(
            Self.error(push: #"update: { call: "PATCH /sales notes/{id}" }"#), "entities.notes.push.update.call", words)
        #expect(
            Self.error(pull: #"path: "/notes/{$now-9d:yyyy-MM-dd HH:mm}", record: { path: "/notes/{id}" }"#)?
                .description == nil)
        #expect(Self.error(push: #"update: { call: "PATCH  /sales%20notes/{id}" }"#)?.description == nil)
    }

    @Test("a word that is nearly one of those allowed is recognised")
    func words() {
        #expect(Self.error(entity: "key: [id, text]")?.problem.contains("a record has one key") == true)
        #expect(Self.error(entity: "conflict: server_win")?.problem.contains("did you mean server_wins?") == true)
        #expect(
            Self.error(pull: "path: /notes, mode: newest_frst")?.problem.contains("did you mean newest_first?") == true)
    }
}
