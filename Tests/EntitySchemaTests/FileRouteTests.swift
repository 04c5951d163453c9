import EntitySchema
import JSONText
import Testing

/// Routes that send a record's content as a part of a form.
struct FileRouteTests {
    @Test func `content can come with the creation, and then needs no other route`() throws {
        let photos = try entity(create: #"{ call: POST /photos, file: image }"#, "content: { types: [image/png] }")
        #expect(photos.isCreatedWithContent)
        #expect(photos.push.create.first?.file == "image")
        #expect(photos.content?.upload == nil)
        #expect(photos.push.create.first?.canSend("image") == false)
    }

    @Test(arguments: [
        (#"{ call: POST /photos, file: image }"#, "", "add content, such as content: { types: [image/jpeg] }"),
        (
            #"{ call: POST /photos, file: image, fields: [caption, image] }"#, "content: { url: url }",
            "the part image has the content"
        ),
        (
            #"{ call: POST /photos, file: image, body: { image: caption } }"#, "content: { url: url }",
            "the part image has the content"
        ),
        (
            #"[{ call: POST /photos, file: image, when: { caption: a } }, { call: POST /photos }]"#,
            "content: { url: url }", "either every route has file or none does"
        ),
        (#"{ call: POST /photos, file: "" }"#, "content: { url: url }", "expected text"),
        (
            "{ call: POST /photos }", #"content: { url: url, delete: { call: "DELETE /photos/{id}", file: image } }"#,
            "unknown key file"
        ),
        (
            "{ call: POST /photos }", #"content: { upload: { call: "DELETE /photos/{id}", file: image } }"#,
            "a DELETE carries no content"
        ),
    ])
    func `a file route that cannot work is refused`(_ create: String, _ content: String, _ problem: String) {
        #expect { try entity(create: create, content) } throws: { "\($0)".contains(problem) }
    }

    @Test func `an edit carries no content`() {
        #expect {
            try entity(create: "{ call: POST /photos }", "content: { url: url }", update: ", file: image")
        } throws: {
            "\($0)".contains("file is only allowed in push.create and content.upload")
        }
    }

    @Test func `a creation is a form of its fields and its content`() throws {
        let photos = try entity(
            create: #"{ call: "POST /photos", file: image, fields: [caption, number] }"#, "content: { url: url }")
        let record = try JSONText(parsing: #"{"id":"a/b","caption":"Front","number":2,"url":null}"#)
        var request = try #require(photos.request(for: .create, record: record, body: record))
        request.content = Content(sha256: "0", size: 3, type: "image/png")
        let plan = try schema(create: "{ call: POST /photos }").upstream
        let wire = request.request(plan, idempotencyKey: "k-1")
        let boundary = "repairminder-sync-k-1"
        #expect(wire.headers.map(\.value) == ["k-1", "multipart/form-data; boundary=\(boundary)", "application/json"])
        #expect(wire.body == nil)
        let form = try #require(request.form(idempotencyKey: "k-1"))
        let text = String(decoding: form.prefix + Array("PNG".utf8) + form.suffix, as: UTF8.self)
        #expect(
            text == """
                --\(boundary)\r
                Content-Disposition: form-data; name="caption"\r
                \r
                Front\r
                --\(boundary)\r
                Content-Disposition: form-data; name="number"\r
                \r
                2\r
                --\(boundary)\r
                Content-Disposition: form-data; name="image"; filename="a_b.png"\r
                Content-Type: image/png\r
                \r
                PNG\r
                --\(boundary)--\r

                """)
    }

    @Test func `the request as people see it has the parts, and the file without its bytes`() throws {
        let photos = try entity(create: #"{ call: "POST /photos", file: image }"#, "content: { url: url }")
        let record = try JSONText(parsing: #"{"id":"a","caption":"Front"}"#)
        var request = try #require(photos.request(for: .create, record: record, body: record))
        let plan = try schema(create: "{ call: POST /photos }").upstream
        #expect(request.shown(plan, idempotencyKey: "k")["body"]?["image"]?.kind == .null)
        request.content = Content(sha256: "0f", size: 3, type: "image/jpeg")
        #expect(
            request.shown(plan, idempotencyKey: "k")["body"]?.text
                == #"{"id":"a","caption":"Front","image":{"filename":"a.jpg","type":"image/jpeg","size":3,"sha256":"0f"}}"#
        )
    }

    @Test func `an upload after the creation may be a form of the file alone`() throws {
        let photos = try entity(
            create: "{ call: POST /photos }", #"content: { upload: { call: "PATCH /photos/{id}", file: image } }"#)
        let record = try JSONText(parsing: #"{"id":"a","caption":"Front"}"#)
        let content = Content(sha256: "0", size: 3, type: "application/pdf")
        let request = try #require(photos.request(for: content, record: record))
        #expect(request.method == "PATCH" && request.operation == .update)
        let form = try #require(request.form(idempotencyKey: "k"))
        let head = String(decoding: form.prefix, as: UTF8.self)
        #expect(
            head.hasPrefix(
                "--repairminder-sync-k\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.pdf\""))
    }

    // MARK: The encoding

    @Test func `strings are sent plain, other values as JSON, and nulls not at all`() {
        let text = prefix(["a": "ü\n\"", "b": true, "c": .array(["x"]), "d": .null, "e": ""])
        #expect(text.contains("name=\"a\"\r\n\r\nü\n\"\r\n"))
        #expect(text.contains("name=\"b\"\r\n\r\ntrue\r\n"))
        #expect(text.contains("name=\"c\"\r\n\r\n[\"x\"]\r\n"))
        #expect(text.contains("name=\"e\"\r\n\r\n\r\n"))
        #expect(!text.contains("name=\"d\""))
    }

    @Test func `quotes and line breaks in names cannot end a header field`() {
        let form = MultipartForm(
            fields: [(key: "a\"\r\nX-Evil: 1", value: "v")], file: "f\"", name: "p\"q\r\n.jpg", type: "image/jpeg",
            key: "k")
        let text = String(decoding: form.prefix, as: UTF8.self)
        #expect(text.contains("name=\"a%22%0D%0AX-Evil: 1\"\r\n"))
        #expect(text.contains("name=\"f%22\"; filename=\"p%22q%0D%0A.jpg\"\r\n"))
    }

    @Test func `the boundary is in no text, and the same for the same request`() {
        func type(_ text: String) -> String {
            MultipartForm(
                fields: [(key: "a", value: .string(text))], file: "file", name: "a.jpg", type: "image/jpeg",
                key: "k/ü 1"
            ).type
        }
        #expect(type("") == "multipart/form-data; boundary=repairminder-sync-k1")
        #expect(type("x repairminder-sync-k1\u{301}") == "multipart/form-data; boundary=repairminder-sync-k1-2")
        let long = MultipartForm(
            fields: [], file: "file", name: "a", type: "image/png", key: String(repeating: "k", count: 500))
        #expect(long.type.utf8.count <= "multipart/form-data; boundary=".utf8.count + 70)
    }

    private func prefix(_ fields: KeyValuePairs<String, JSONText>) -> String {
        let form = MultipartForm(
            fields: fields.map { ($0.key, $0.value) }, file: "file", name: "a.jpg", type: "image/jpeg", key: "k")
        return String(decoding: form.prefix, as: UTF8.self)
    }

    // MARK: The schema

    private func entity(create: String, _ content: String, update: String = "") throws -> Entity {
        try #require(try schema(create: create, content, update: update)["photos"])
    }

    private func schema(create: String, _ content: String = "", update: String = "") throws -> EntitySchema {
        try EntitySchema(
            yaml: """
                schema: home
                upstream: { base_url: http://localhost, idempotency_header: Idempotency-Key }
                entities:
                  photos:
                    fields:
                      id: { type: string }
                      caption: { type: string }
                      number: { type: integer }
                      image: { type: string }
                      url: { type: string }
                    \(content)
                    pull: { path: /photos }
                    push:
                      create: \(create)
                      update: { call: "PATCH /photos/{id}"\(update) }
                """, file: "home.yaml")
    }
}
