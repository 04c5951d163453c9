import EntitySchema
import Foundation
import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("What doctor says of the upstream's certificate", .timeLimit(.minutes(10)))
struct CertificateChecksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        try openssl("req -x509 \(key) -keyout ca.key -out ca.pem -subj /CN=ca -days 2")
        try openssl("req -new \(key) -keyout server.key -out server.csr -subj /CN=server")
    }

    private func openssl(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = command.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder.url
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(command)")
    }

    /// Makes `server.pem`, which is for `name`; `isSigned`: by the authority that doctor trusts here.
    private func certify(_ name: String, days: Int, isSigned: Bool) throws {
        try folder.write("subjectAltName=\(name)\n", to: "names")
        let signer = isSigned ? "-CA ca.pem -CAkey ca.key -CAcreateserial" : "-signkey server.key"
        try openssl("x509 -req -in server.csr \(signer) -days \(days) -extfile names -out server.pem")
    }

    /// What doctor finds at a server with that certificate.
    private func findings() async throws -> [Finding] {
        let server = Process()
        let output = Pipe()
        server.executableURL = URL(filePath: "/usr/bin/openssl")
        server.arguments = ["s_server", "-accept", "127.0.0.1:0", "-key", "server.key", "-cert", "server.pem", "-www"]
        server.currentDirectoryURL = folder.url
        server.standardInput = FileHandle.nullDevice
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        try server.run()
        defer { kill(server.processIdentifier, SIGKILL) }
        let port = try #require(Self.port(in: output.fileHandleForReading))
        let schema = """
            schema: notes
            upstream: { pagination: { style: single } }
            entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
            """
        let address = "https://127.0.0.1:\(port)"
        let configuration = try folder.configuration(
            yaml: "schema: \(folder.write(schema, to: "notes.yaml"))\nupstream: { base_url: \"\(address)\" }\n")
        let finder = SchemaFinder(environment: folder.environment())
        let checks = try UpstreamChecks(
            configuration: configuration, schema: finder.schema(for: configuration), finder: finder,
            now: { Timestamp(milliseconds: 0) }, caFile: folder.path("ca.pem"))
        return await checks.findings(withToken: false)
    }

    /// The port that `openssl s_server` says it has.
    private static func port(in output: FileHandle) -> String? {
        var text = ""
        while true {
            let piece = output.availableData
            guard !piece.isEmpty else { return nil }
            text += String(decoding: piece, as: UTF8.self)
            if let match = text.firstMatch(of: /ACCEPT [^\n]*:([0-9]+)\n/) { return String(match.1) }
        }
    }

    @Test(
        "a certificate that is expired, for another name or signed by an unknown authority is an error, with how to look at it",
        arguments: [
            ("IP:127.0.0.1", -1, true, "expired"), ("DNS:other.example", 2, true, "name"),
            ("IP:127.0.0.1", 2, false, "self"),
        ])
    func distrusted(_ name: String, _ days: Int, _ isSigned: Bool, _ reason: String) async throws {
        try certify(name, days: days, isSigned: isSigned)
        let found = try await findings()
        #expect(found.map(\.check) == ["tls"] && found.map(\.level) == [.error])
        let message = found.first?.message ?? ""
        #expect(message.contains("is not trusted (") && message.contains(reason), "\(message)")
        #expect(found.first?.advice?.contains("openssl s_client -connect 127.0.0.1:") == true)
    }

    @Test("a certificate that is trusted, and for this name, is said to be valid")
    func trusted() async throws {
        try certify("IP:127.0.0.1", days: 2, isSigned: true)
        let found = try await findings()
        #expect(found.contains(Finding.ok("tls", "the certificate is valid")), "\(found)")
        #expect(!found.contains { $0.level == .error }, "\(found)")
    }
}
