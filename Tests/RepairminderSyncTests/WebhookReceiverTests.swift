import Crypto
import EntitySchema
import Foundation
import JSONText
import LocalAPIServer
import SocketServer
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Webhooks")
struct WebhookReceiverTests {
    /// The example of GitHub's documentation.
    private static let secret = "It's a Secret to Everybody"
    private static let body = "Hello, World!"
    private static let code = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"

    private final class Taken: Sendable {
        private let list = Mutex<[String]>([])

        var all: [String] { list.withLock { $0 } }
        func add(_ text: String) { list.withLock { $0.append(text) } }
    }

    private let taken = Taken()

    private func receiver(
        _ signature: String, challenge: String = "", secrets: [String] = [secret], burst: Int = 1000
    ) throws -> WebhookReceiver {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream:
                  signals: [{ webhook: { path: /hook, entity: orders, key: id, signature: { \(signature) }\(challenge) } }]
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """, file: "s.yaml")
        let instant = ContinuousClock.now
        return WebhookReceiver(
            sources: schema.upstream.signals, secrets: secrets.map { Array($0.utf8) },
            limit: RateLimit(perSecond: 1, burst: burst, now: { instant }), now: { .sample },
            accept: { [taken] message, source in taken.add("\(source.name) \(message.text)") },
            refuse: { [taken] source in taken.add("\(source.name) refused") })
    }

    private func status(
        _ receiver: WebhookReceiver, _ headers: [(String, String)], body: String = body, method: String = "POST",
        path: String = "/hook"
    ) -> Int {
        var fields = Headers()
        for (name, value) in headers { fields.append(name: name, value: value) }
        return receiver.respond(
            to: Request(method: method, path: path, headers: fields, body: Array(body.utf8))
        ).status
    }

    @Test("a call that is signed as the schema says is accepted, and any other is refused and counted")
    func signed() throws {
        let receiver = try receiver("header: X-Hub-Signature-256, prefix: sha256=")
        #expect(status(receiver, [("x-hub-signature-256", "sha256=\(Self.code)")]) == 204)
        #expect(taken.all == [#"webhook /hook "Hello, World!""#])
        let wrong = [
            [], [("X-Hub-Signature-256", Self.code)], [("X-Hub-Signature-256", "sha256=")],
            [("X-Hub-Signature-256", "sha256=\(Self.code.dropLast(2))")],
            [("X-Hub-Signature-256", "sha256=\(Self.code.dropLast())8")],
            [("X-Hub-Signature-256", "sha256=\(Self.code)zz")],
            // Two of them: another program on the way might have looked at the other.
            [("X-Hub-Signature-256", "sha256=\(Self.code)"), ("X-Hub-Signature-256", "sha256=\(Self.code)")],
        ]
        for headers in wrong { #expect(status(receiver, headers) == 401) }
        #expect(status(receiver, [("X-Hub-Signature-256", "sha256=\(Self.code)")], body: "Hello, World?") == 401)
        #expect(taken.all.count { $0 == "webhook /hook refused" } == wrong.count + 1)
    }

    @Test("each of several secrets is accepted, and one in base64 or in capitals")
    func formats() throws {
        let two = try receiver("header: X", secrets: ["a-new-secret", Self.secret])
        #expect(status(two, [("X", Self.code.uppercased())]) == 204)
        let other = try receiver("header: X", secrets: ["a-new-secret"])
        #expect(status(other, [("X", Self.code)]) == 401)
        let base64 = try receiver("header: X, format: base64")
        #expect(status(base64, [("X", "dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=")]) == 204)
        #expect(status(base64, [("X", "eXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc=")]) == 401)
    }

    @Test("a signature over a time counts only for a while, and only with that time")
    func times() throws {
        // HMAC-SHA256 of `<time>.{}`, for the times before, at and after the present one.
        let receiver = try receiver(
            "header: Signed, prefix: v1=, over: \"{$timestamp}.{$body}\", "
                + "timestamp: { header: Signed, prefix: t=, tolerance: 5m }",
            secrets: ["whsec_test"])
        let now = Int(Timestamp.sample.milliseconds / 1000)
        func header(_ time: Int, signed: Int? = nil) -> [(String, String)] {
            let code = TestCode.sha256("\(signed ?? time).{}", secret: "whsec_test")
            return [("Signed", "t=\(time),v1=\(code),v0=ab")]
        }
        for time in [now, now - 299, now + 299] { #expect(status(receiver, header(time), body: "{}") == 204) }
        for time in [now - 301, now + 301, 0] { #expect(status(receiver, header(time), body: "{}") == 401) }
        #expect(status(receiver, header(now, signed: now - 900), body: "{}") == 401)
        #expect(status(receiver, [("Signed", "v1=ab")], body: "{}") == 401)
    }

    @Test("other headers can be signed as well")
    func signedHeaders() throws {
        let receiver = try receiver("header: S, over: \"{$header.webhook-id}.{$body}\"", secrets: ["whsec_test"])
        let code = TestCode.sha256("m1.{}", secret: "whsec_test")
        #expect(status(receiver, [("S", code), ("Webhook-Id", "m1")], body: "{}") == 204)
        #expect(status(receiver, [("S", code), ("Webhook-Id", "m2")], body: "{}") == 401)
        #expect(status(receiver, [("S", code)], body: "{}") == 401)
    }

    @Test("a header can have the secret itself")
    func token() throws {
        let receiver = try receiver("header: X-Token, algorithm: token")
        #expect(status(receiver, [("X-Token", Self.secret)]) == 204)
        for text in ["", "It's", Self.secret + "!", String(Self.secret.dropLast())] {
            #expect(status(receiver, [("X-Token", text)]) == 401)
        }
    }

    @Test("other paths and methods are refused, and too many calls")
    func limits() throws {
        let receiver = try receiver("header: X", burst: 3)
        #expect(status(receiver, [], path: "/v1/orders") == 404)
        #expect(status(receiver, [], method: "GET") == 405)
        #expect(status(receiver, [], method: "DELETE") == 405)
        #expect(status(receiver, [("X", Self.code)]) == 429)
        #expect(taken.all.isEmpty)
    }

    @Test("the connection closes after a call in vain, and stays open after a signed one")
    func closing() throws {
        let receiver = try receiver("header: X")
        func closes(_ method: String, _ path: String, _ code: String) -> Bool {
            var headers = Headers()
            headers.append(name: "X", value: code)
            return receiver.respond(
                to: Request(method: method, path: path, headers: headers, body: Array(Self.body.utf8))
            ).closes
        }
        #expect(!closes("POST", "/hook", Self.code))
        #expect(closes("POST", "/hook", "no signature"))
        #expect(closes("POST", "/v1/orders", Self.code) && closes("DELETE", "/hook", Self.code))
    }

    @Test("the rate is that of a user where the kernel says which user calls, and else that of an address")
    func rate() throws {
        let receiver = try receiver("header: X", burst: 2)
        func status(_ user: UInt32?, _ address: String) -> Int {
            let end = Peer.Endpoint(address: address, port: 1)
            let request = Request(
                method: "GET", path: "/", peer: .tcp(remote: end, local: end),
                caller: Caller(user: user, access: .stranger))
            return receiver.respond(to: request).status
        }
        #expect((0..<3).map { _ in status(7, "127.0.0.1") } == [404, 404, 429])
        #expect(status(8, "127.0.0.1") == 404)
        #expect((0..<3).map { _ in status(nil, "192.0.2.1") } == [404, 404, 429])
        #expect(status(nil, "192.0.2.2") == 404)
    }

    @Test("a challenge is repeated as plain text if the schema names its parameter")
    func challenge() throws {
        let receiver = try receiver("header: X", challenge: ", challenge: hub.challenge")
        func answer(_ query: String?) -> Response {
            receiver.respond(to: Request(method: "GET", path: "/hook", query: query))
        }
        guard case .bytes(let bytes) = answer("a=1&hub.challenge=x%20y").body else { return }
        #expect(String(decoding: bytes, as: UTF8.self) == "x y")
        for query in [
            nil, "", "challenge=1", "hub.challenge=%00", "hub.challenge=" + String(repeating: "x", count: 201),
        ] {
            #expect(answer(query).status == 400)
        }
    }

    @Test("the file with the secrets has one on each line, and only its owner may read it")
    func secrets() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("a-long-secret\n\n another-secret \r\n", to: "secrets")
        func read() -> [String]? {
            (try? SignalSecrets(path: file).read())?.map { String(decoding: $0, as: UTF8.self) }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(read() == ["a-long-secret", "another-secret"])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(read() == nil)
        let short = try folder.write("a-long-secret\nshort\n", to: "short")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: short)
        #expect((try? SignalSecrets(path: short).read()) == nil)
    }

    @Test("a listener without a secret is refused, and one without a webhook is a warning")
    func setup() throws {
        let folder = try TemporaryFolder()
        func setup(_ signals: String, _ settings: String) throws -> Setup {
            let schema = """
                schema: s
                upstream: { base_url: "http://127.0.0.1:1", \(signals) }
                entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
                """
            try folder.write(schema, to: "s.yaml")
            let file = try folder.write("schema: ./s.yaml\n\(settings)", to: "config.yaml")
            return try SetupReader(path: file, flags: [:], environment: folder.environment()).setup()
        }
        let webhook = "signals: [{ webhook: { path: /h, entity: orders, signature: { header: X } } }]"
        let error = #expect(throws: ConfigurationError.self) {
            try setup(webhook, "signals: { listen: \"127.0.0.1:0\" }")
        }
        #expect(error?.place == "signals.secret_file")
        let secret = try folder.write("short", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        #expect(throws: ConfigurationError.self) {
            try setup(webhook, "signals: { listen: \"127.0.0.1:0\", secret_file: secret }")
        }
        #expect(try setup(webhook, "").configuration.warnings.first?.contains("signals.listen is off") == true)
        let stray = try setup("", "signals: { listen: \"127.0.0.1:7\" }").configuration.warnings
        #expect(stray.first?.contains("the schema has no webhook") == true)
    }
}

/// Signs as an upstream does.
private enum TestCode {
    static func sha256(_ text: String, secret: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: Array(secret.utf8)))
            .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
