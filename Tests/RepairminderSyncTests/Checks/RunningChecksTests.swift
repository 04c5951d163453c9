import Foundation
import JSONText
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("What the running daemon checks itself")
struct RunningChecksTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// `members`: more of the status.
    private func findings(_ members: String = "") throws -> [Finding] {
        let configuration = try folder.configuration(
            yaml: """
                schema: \(ProjectFiles.schemaFile("repairminder").path)
                state_dir: \(folder.path("state"))
                upstream: { base_url: "https://shop.example" }
                """)
        let finder = SchemaFinder(environment: folder.environment())
        let checks = RunningChecks(
            configuration: configuration, schema: try finder.schema(for: configuration), finder: finder,
            database: folder.path("state/a.db"), now: { .sample })
        return checks.findings(try JSONText(parsing: #"{"state":"idle","pending":0,"failed":0\#(members)}"#))
    }

    private func finding(_ check: String, _ members: String = "") throws -> Finding {
        try #require(try findings(members).first { $0.check == check })
    }

    @Test("files, disk, library and backups of the machine are checked")
    func machine() throws {
        let checks = Set(try findings().map(\.check))
        #expect(checks.isSuperset(of: ["daemon", "permissions", "token", "secret key", "disk", "sqlite", "backups"]))
        for name in ["open.txt", "current.db"] { try folder.write("text", to: "state/\(name)") }
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.path("state/open.txt"))
        let open = try finding("permissions")
        #expect(open.level == .error && open.message.contains("open.txt") && open.advice?.contains("chmod") == true)
    }

    @Test("a reachable upstream is told with its clock, which is wrong when it is more than a minute off")
    func reachable() throws {
        let known = #","upstream":{"reachable":true,"account":"acme","clock_offset_ms":1200}"#
        #expect(try finding("upstream", known) == .ok("upstream", "https://shop.example is reachable"))
        #expect(try finding("clock", known).level == .ok)
        #expect(try finding("tls", known).level == .ok)
        #expect(try finding("account", known) == .ok("account", "acme"))
        let late = #","upstream":{"reachable":true,"clock_offset_ms":-90000}"#
        #expect(try finding("clock", late).message == "the upstream's clock is -90 s ahead of this machine's")
        let early = Set(try findings(#","upstream":{"reachable":true,"clock_offset_ms":null}"#).map(\.check))
        #expect(early.isDisjoint(with: ["upstream", "tls", "clock", "schema"]), "no answer has come yet")
    }

    @Test("why an upstream is unreachable is told as doctor does: name, certificate, or connection")
    func unreachable() throws {
        let none = try finding(
            "upstream", #","error":"shop.example was not found (x): check the name","upstream":{"reachable":false}"#)
        #expect(none.level == .error && none.message.contains("was not found"))
        #expect(none.advice?.contains("DNS") == true)
        let distrust = #","error":"shop.example is not trusted (expired): check","upstream":{"reachable":false}"#
        let expired = try finding("tls", distrust)
        #expect(expired.level == .error)
        #expect(expired.advice?.contains("openssl s_client -connect shop.example:443") == true)
    }

    @Test("a refused token asks for a sign-in, and another failure is told in its words")
    func refused() throws {
        let signedOut = #","error":"401","upstream":{"reachable":true,"needs_sign_in":true}"#
        let account = try finding("account", signedOut)
        #expect(account.level == .error && account.advice?.contains("repairminder-sync login") == true)
        let barred = try finding("account", #","error":"403","upstream":{"reachable":true,"refuses_account":true}"#)
        #expect(barred == .error("account", "403", AccountAdvice.refused))
        let maintenance = #","error":"the upstream takes no changes right now","upstream":{"reachable":true}"#
        #expect(try finding("upstream", maintenance).message == "the upstream takes no changes right now")
    }

    @Test("drift, conflicts and a replaced database are told; without them, the records are as the schema says")
    func records() throws {
        #expect(try finding("schema", #","upstream":{"reachable":true,"clock_offset_ms":0}"#).level == .ok)
        let much = #"""
            ,"drift":2,"set_aside":1,"conflicts":1,"rescue":{"summary":"all rescued"},
            "upstream":{"reachable":true,"clock_offset_ms":0}
            """#
        #expect(try finding("schema", much).message.hasPrefix("3 differences"))
        let most = much.replacing(#""drift":2"#, with: #""drift":\#(Int.max)"#)
        #expect(try finding("schema", most).message.hasPrefix("\(Int.max) differences"))
        #expect(try finding("conflicts", much).message == "1 conflict waits for a decision")
        for (check, command) in [("schema", "drift"), ("conflicts", "conflicts --open")] {
            let advice = try finding(check, much).advice
            #expect(advice?.hasPrefix("see repairminder-sync \(command) --config /") == true, "\(advice ?? "")")
        }
        #expect(try finding("rescue", much).message.hasSuffix("all rescued"))
    }
}
