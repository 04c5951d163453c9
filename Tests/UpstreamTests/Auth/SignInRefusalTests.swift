import EntitySchema
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Upstream

/// A process that starts again must not send refused credentials at once.
@Suite("A refused sign-in", .timeLimit(.minutes(10)))
struct SignInRefusalTests {
    private let folder: TemporaryFolder
    private let server = TokenServer()
    private let salts = Counter()
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("sign-in-refusal.json")
        try put("wrong")
    }

    private func put(_ password: String) throws {
        let path = folder.path("password")
        try? FileManager.default.removeItem(atPath: path)
        let data = Data("\(password)\n".utf8)
        #expect(FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: 0o600]))
    }

    /// A token of a process that has just started. Its salts differ from those of the process before.
    private func started(baseURL: String? = nil) throws -> RotatingToken {
        let plan = try EntitySchema(yaml: TokenServer.schema, file: "shop.yaml").upstream
        let salt = UInt64(salts.next())
        return RotatingToken(
            UpstreamAccess(
                plan: plan, baseURL: baseURL, transport: server.transport,
                secrets: SecretFiles(paths: ["password": folder.path("password")]), now: { [server] in server.now }),
            store: TokenStore(path: folder.path("tokens.json")),
            refusals: SignInRefusalFile(path: path, random: { salt }))
    }

    /// The error of a sign-in by a process that has just started.
    private func refusal(baseURL: String? = nil) async throws -> String? {
        let token = try started(baseURL: baseURL)
        do throws(UpstreamError) {
            _ = try await token.current()
            return nil
        } catch {
            return error.message
        }
    }

    private var signIns: Int { server.calls("/sign-in").count }

    @Test("is not repeated by restarts, and then ever more rarely")
    func restarts() async throws {
        let first = try #require(try await refusal())
        for _ in 1...20 {
            let message = try #require(try await refusal())
            #expect(message.hasPrefix(first) && message.contains("sent again at"), "\(message)")
            server.advance(.seconds(10))
        }
        #expect(signIns == 1)
        server.advance(.seconds(701))
        for _ in 1...3 { #expect(try await refusal() != nil) }
        #expect(signIns == 2, "a quarter of an hour later")
        server.advance(.seconds(1799))
        #expect(try await refusal() != nil)
        #expect(signIns == 2)
        server.advance(.seconds(2))
        #expect(try await refusal() != nil)
        #expect(signIns == 3, "twice as long")
    }

    @Test("is kept in a file of mode 0600 without the credentials, until a sign-in succeeds")
    func file() async throws {
        try put("a-wrong-password")
        _ = try await refusal()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("a-wrong-password"))
        try put("right")
        #expect(try await refusal() == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("says nothing about other credentials, or about another upstream")
    func others() async throws {
        _ = try await refusal()
        try put("wrong too")
        _ = try await refusal()
        #expect(signIns == 2)
        _ = try await refusal(baseURL: "https://shop.example/")
        #expect(server.requests.count == 3)
    }

    @Test(
        "in a file that cannot be read counts as none",
        arguments: ["", "{", "[]", "{}", #"{"salt":"1","sha256":"2","time":"x","count":1,"message":"m"}"#])
    func unusable(_ text: String) async throws {
        try PrivateFile(path: path).write(Array(text.utf8))
        #expect(try await refusal()?.contains("sent again at") == false)
        #expect(signIns == 1)
    }

    @Test("that others may read counts as none")
    func exposed() async throws {
        _ = try await refusal()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        _ = try await refusal()
        #expect(signIns == 2)
    }

    @Test("does not hold up a sign-in for ever when the clock was set back")
    func clock() async throws {
        _ = try await refusal()
        server.advance(.seconds(-86_400))
        _ = try await refusal()
        #expect(signIns == 2)
    }

    @Test("is none if the answer says nothing about the credentials: a restart sends them at once")
    func unclear() async throws {
        try put("right")
        server.state.withLock { $0.answers["/sign-in"] = .json(404, "no backend") }
        #expect(try await refusal() != nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        server.state.withLock { $0.answers = [:] }
        #expect(try await refusal() == nil)
    }

    @Test("is no other after each restart that only looks at it")
    func unchanged() async throws {
        _ = try await refusal()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        _ = try await refusal()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
