import EntitySchema
import Foundation
import JSONText
import TestSupport
import Testing

@testable import Upstream

/// A second credential in `upstream.headers`, beside the token or without one.
@Suite("Stored credentials in the schema's headers")
struct HeaderSecretTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try put("key-4711")
    }

    private func put(_ key: String) throws {
        let path = folder.path("app_key")
        try? FileManager.default.removeItem(atPath: path)
        let data = Data("\(key)\n".utf8)
        #expect(FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: 0o600]))
    }

    private func plan() throws -> UpstreamPlan {
        try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  base_url: "https://shop.example"
                  account: { path: /me, id: id }
                  headers: { X-App-Key: "app {$secret.app_key}" }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml"
        ).upstream
    }

    private func upstream(_ transport: ScriptedTransport, secrets: SecretFiles? = nil) throws -> HTTPUpstream {
        HTTPUpstream(
            UpstreamAccess(
                plan: try plan(), transport: transport,
                secrets: secrets ?? SecretFiles(paths: ["app_key": folder.path("app_key")]), now: { Timestamp.sample }),
            token: nil)
    }

    private func sent(_ transport: ScriptedTransport) -> [String] {
        transport.requests.flatMap(\.headers).filter { $0.name == "X-App-Key" }.map(\.value)
    }

    @Test("each request has it, and the next one the text of a file that was replaced")
    func sent() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"a"}"#) }
        let upstream = try upstream(transport)
        _ = try await upstream.account()
        try put("key-4712")
        _ = try await upstream.account()
        #expect(sent(transport) == ["app key-4711", "app key-4712"])
    }

    @Test("neither an error nor a shown request repeats it")
    func hidden() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse.json(422, #"{"message":"bad key key-4711"}"#) }
        let change = PushRequest(entity: "orders", method: "PATCH", path: "/orders/a", body: .object(["notes": "n"]))
        let upstream = try upstream(transport)
        do throws(UpstreamError) {
            _ = try await upstream.push(change, idempotencyKey: "1")
            Issue.record("the change was accepted")
        } catch {
            #expect(error.message.contains("bad key") && !error.message.contains("key-4711"), "\(error.message)")
        }
        #expect(sent(transport) == ["app key-4711"])
        let shown = change.shown(try plan(), idempotencyKey: "1")["headers"]?["X-App-Key"]
        #expect(shown == "app {$secret.app_key}")
    }

    @Test("while it is not stored, nothing is sent, and the daemon says what is missing")
    func missing() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse.json(200, #"{"id":"a"}"#) }
        let upstream = try upstream(transport, secrets: SecretFiles(paths: [:]))
        let message = "the credential app_key is not stored; name its file in upstream.secrets.app_key"
        #expect(await upstream.missing == message)
        await #expect(throws: UpstreamError.held(message)) { _ = try await upstream.account() }
        #expect(transport.requests.isEmpty)
    }
}
