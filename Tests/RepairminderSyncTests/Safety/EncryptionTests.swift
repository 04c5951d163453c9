import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct EncryptionTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func setup(base: String, _ settings: String = "") throws -> Setup {
        let schema = """
            schema: s
            upstream: { base_url: "\(base)" }
            entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
            """
        try folder.write(schema, to: "s.yaml")
        let file = try folder.write("schema: ./s.yaml\n\(settings)", to: "config.yaml")
        return try SetupReader(path: file, flags: [:], environment: folder.environment()).setup()
    }

    @Test(
        "an upstream on another machine without TLS is rejected",
        arguments: ["http://shop.example", "http://10.0.0.7:8080/v1", "http://127.0.0.1.evil.example", "http://[::2]"])
    func plain(_ base: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try setup(base: base) }
        #expect(error?.place == "upstream.base_url")
        #expect(error?.problem.contains("upstream.allow_plain_http") == true)
    }

    @Test("an address in the configuration counts, not the schema's")
    func configured() throws {
        #expect(throws: ConfigurationError.self) {
            try setup(base: "https://shop.example", "upstream: { base_url: 'http://shop.example' }")
        }
        #expect(throws: Never.self) {
            try setup(base: "http://shop.example", "upstream: { base_url: 'https://shop.example' }")
        }
    }

    @Test(
        "an upstream with TLS or on this machine needs no permission and causes no warning",
        arguments: ["https://shop.example", "http://127.0.0.1:1", "http://localhost:1/v1", "http://[::1]:1"])
    func quiet(_ base: String) throws {
        #expect(try setup(base: base).configuration.warnings.isEmpty)
    }

    @Test("what is allowed is a warning")
    func warnings() throws {
        let settings = """
            upstream: { allow_plain_http: true }
            listen: { tcp: '0.0.0.0:1', allow_remote: true, allow_plain_http: true }
            """
        let warnings = try setup(base: "http://shop.example", settings).configuration.warnings
        #expect(warnings.count == 2)
        #expect(warnings.first?.contains("unencrypted to http://shop.example") == true)
        #expect(warnings.last?.contains("0.0.0.0:1") == true)
    }
}
