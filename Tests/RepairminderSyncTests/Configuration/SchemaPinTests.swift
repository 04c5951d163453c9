import Crypto
import EntitySchema
import Foundation
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Pinned schemas") struct SchemaPinTests {
    let folder: TemporaryFolder

    private static let schema = """
        schema: s
        version: 7
        upstream: { base_url: 'https://a.example' }
        entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }
        """
    private static let hash = SHA256.hash(data: Data(schema.utf8)).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.schema, to: "s.yaml")
    }

    private func setup(_ yaml: String) throws -> Setup {
        let file = try folder.write(yaml, to: "config.yaml")
        return try SetupReader(path: file, flags: [:], environment: folder.environment()).setup()
    }

    private func refusal(_ yaml: String) -> String? {
        do {
            _ = try setup(yaml)
            return nil
        } catch {
            return "\(error)".replacing(folder.path + "/", with: "")
        }
    }

    @Test("the pinned version and hash are accepted, the hash in any case")
    func right() throws {
        let setup = try setup("schema: { name: ./s.yaml, version: 7, sha256: \(Self.hash.uppercased()) }")
        #expect(setup.schema.name == "s" && setup.schemaSHA256 == Self.hash)
        #expect(setup.schemaHash == String(Self.hash.prefix(12)))
    }

    @Test("another hash is refused with the one that the file has, and the place of the pin")
    func otherHash() {
        let message = refusal("schema:\n  name: ./s.yaml\n  sha256: \(String(repeating: "0", count: 64))")
        #expect(message?.hasPrefix("config.yaml:3: schema.sha256: the schema s.yaml is not the pinned one") == true)
        #expect(message?.contains(Self.hash) == true)
    }

    @Test("a hash is checked before the file is read as a schema")
    func noSchema() throws {
        try folder.write("no: schema", to: "s.yaml")
        #expect(refusal("schema: { name: ./s.yaml, sha256: \(Self.hash) }")?.contains("is not the pinned one") == true)
    }

    @Test("another version, or none, is refused")
    func otherVersion() throws {
        let message = refusal("schema: { name: ./s.yaml, version: 8 }")
        #expect(message?.hasSuffix("s.yaml is not the pinned one: it has version 7; expected 8") == true)
        try folder.write(Self.schema.replacing("version: 7\n", with: ""), to: "s.yaml")
        #expect(refusal("schema: { name: ./s.yaml, version: 7 }")?.contains("it has no version") == true)
    }

    @Test("a pin in one file holds for the schema that another names")
    func otherFile() throws {
        try folder.write("schema: { version: 8 }", to: "conf.d/10-pin.yaml")
        #expect(refusal("schema: ./s.yaml")?.hasPrefix("conf.d/10-pin.yaml:1: schema.version: ") == true)
    }

    @Test(
        "a wrong hash or key is refused",
        arguments: [
            ("schema: { name: ./s.yaml, sha256: 3f9c }", "expected a SHA-256 of 64 hexadecimal digits"),
            ("schema: { name: ./s.yaml, sha265: 3f9c }", "did you mean schema.sha256?"),
            ("schema: { nam: ./s.yaml }", "did you mean schema.name?"),
        ])
    func wrong(_ yaml: String, _ problem: String) {
        #expect(refusal(yaml)?.contains(problem) == true, "\(refusal(yaml) ?? "")")
    }

    @Test("a built-in schema can be pinned, too")
    func builtIn() throws {
        #expect(
            refusal("schema: { name: propdocs, sha256: \(Self.hash) }")?.contains("propdocs.yaml (built in)") == true)
    }
}
