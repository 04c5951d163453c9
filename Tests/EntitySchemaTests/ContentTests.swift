import EntitySchema
import Testing

struct ContentTests {
    @Test func `reads the download and upload routes of content`() throws {
        let content = try #require(try entity(Self.full).content)
        #expect(content.address == "remote_image_url")
        #expect(content.upload?.method == "PUT")
        #expect(content.delete?.method == "DELETE")
        #expect(content.types == ["image/jpeg", "application/pdf"])
        #expect(content.maximumSize == 20 << 20)
        #expect(content.state == "upload_status")
    }

    @Test func `allows pictures of up to 50 MiB by default`() throws {
        let content = try #require(try entity("content: { url: remote_image_url }").content)
        #expect(content.types == ["image/jpeg", "image/png", "image/gif", "image/webp"])
        #expect(content.maximumSize == 50 << 20)
        #expect(content.upload == nil)
    }

    @Test(arguments: [
        ("content: { types: [image/png] }", "expected url, path or upload"),
        ("content: { url: picture }", "photos has no field picture"),
        ("content: { url: remote_image_url, types: [jpeg] }", "jpeg is not a media type"),
        ("content: { url: remote_image_url, max_size: 50 MB }", "expected a size"),
        ("content: { url: remote_image_url, state: caption_kind }", "must have the values queued"),
        ("content: { url: remote_image_url, state: size }", "size must be of type string or enum"),
        ("content: { upload: { call: \"PUT /photos/{number}\" } }", "photos has no field number"),
        ("content: { upload: { call: \"PUT /photos/{id}\", when: { id: a } } }", "unknown key when"),
    ])
    func `rejects invalid content settings`(_ line: String, _ problem: String) {
        #expect { try entity(line) } throws: { "\($0)".contains(problem) }
    }

    private func entity(_ content: String) throws -> Entity {
        let schema = try EntitySchema(
            yaml: """
                schema: home
                upstream: { base_url: http://localhost }
                entities:
                  photos:
                    fields:
                      id: { type: string }
                      remote_image_url: { type: string }
                      size: { type: integer }
                      caption_kind: { type: enum, values: { plain: Plain } }
                      upload_status: { type: enum, values: { queued: Q, uploading: U, uploaded: D, failed: F } }
                    pull: { path: /photos }
                    \(content)
                """, file: "home.yaml")
        return try #require(schema["photos"])
    }

    private static let full =
        #"content: { url: remote_image_url, upload: { call: "PUT /photos/{id}/content" }, "#
        + #"delete: { call: "DELETE /photos/{id}/content" }, types: [image/jpeg, application/pdf], "#
        + "max_size: 20MiB, state: upload_status }"
}
