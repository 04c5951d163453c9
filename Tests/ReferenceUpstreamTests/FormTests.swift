import EntitySchema
import JSONText
import Testing

/// Records that are created by a form with their content.
struct FormTests {
    private static let yaml = """
        schema: home
        upstream: { base_url: http://localhost, idempotency_header: Idempotency-Key, records: data, record: data }
        entities:
          photos:
            fields:
              id: { type: string }
              caption: { type: string }
              number: { type: integer }
              url: { type: string }
              state: { type: string }
            content: { url: url, upload: { call: "PATCH /photos/{id}/content", file: file }, types: [image/png],
                       max_size: 100B, state: state }
            pull: { path: /photos }
            push: { create: { call: POST /photos, fields: [caption, number], file: file } }
        """
    private let harness: Harness

    init() throws { harness = try Harness(EntitySchema(yaml: Self.yaml, file: "home.yaml")) }

    private func send(_ body: String, _ path: String = "/photos", _ method: String = "POST") async throws -> Reply {
        try await harness.send(
            method, path, body, headers: [("Content-Type", "multipart/form-data; boundary=b")])
    }

    private func form(
        caption: String = "Front", file: String? = "PNG", name: String = "file", type: String = "image/png"
    ) -> String {
        var text = "--b\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\n\(caption)\r\n"
        text += "--b\r\nContent-Disposition: form-data; name=\"number\"\r\n\r\n2\r\n"
        if let file {
            text += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"a;b%22.png\"\r\n"
            text += "Content-Type: \(type)\r\n\r\n\(file)\r\n"
        }
        return text + "--b--\r\n"
    }

    @Test func `a form makes a record with its bytes, which are served where the record says`() async throws {
        let made = try await send(form(file: "PNG\r\n--c\r\n"))
        #expect(made.status == 201 || made.status == 200, "\(made.text)")
        #expect(try made.at("data.caption") == "Front" && made.at("data.number").integer == 2)
        #expect(try made.at("data.state") == "uploaded")
        let content = try await harness.get(made.at("data.url").plain)
        #expect(content.text == "PNG\r\n--c\r\n" && content.header("Content-Type") == "image/png")
        let changed = try await send(form(file: "other"), made.at("data.url").plain, "PATCH")
        #expect(changed.status == 200, "\(changed.text)")
        #expect(try await harness.get("/photos/\(made.at("data.id").plain)/content").text == "other")
    }

    @Test func `a creation without its file makes nothing`() async throws {
        for body in [form(file: nil), form(name: "picture")] {
            let reply = try await send(body)
            #expect(reply.status == 422 && reply.text.contains("needs one file in the part file"))
        }
        #expect(try await harness.get("/photos").at("data").elements.isEmpty)
    }

    @Test func `files of other types and sizes are refused`() async throws {
        #expect(try await send(form(type: "text/plain")).status == 415)
        #expect(try await send(form(file: String(repeating: "x", count: 101))).status == 413)
    }

    @Test(arguments: [
        ("", "does not begin with the boundary"),
        ("--bx", "is not followed by a new line"),
        ("--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\ncut", "may be cut off"),
        ("--b\r\nContent-Disposition: form-data; name=\"file\"\r\n--b--", "no empty line"),
        ("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--", "no Content-Disposition"),
        (
            String(repeating: "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n", count: 101) + "--b--",
            "more than 100 parts"
        ),
    ])
    func `a malformed form is refused with words`(_ body: String, _ words: String) async throws {
        let reply = try await send(body)
        #expect(reply.status == 400 && reply.text.contains(words), "\(reply.text)")
    }

    @Test(arguments: ["application/json", "multipart/form-data", "multipart/form-data; boundary=\"\""])
    func `a body that says to be no form is refused`(_ type: String) async throws {
        let reply = try await harness.send("POST", "/photos", form(), headers: [("Content-Type", type)])
        #expect(reply.status == 400, "\(reply.text)")
    }
}
