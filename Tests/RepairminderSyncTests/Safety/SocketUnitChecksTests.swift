import TestSupport
import Testing

@testable import repairminder_sync

@Suite struct SocketUnitChecksTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let shown = """
        Listen=/run/repairminder-sync/api.sock (Stream)
        Listen=127.0.0.1:7679 (Stream)
        Listen=[::1]:7679 (Stream)
        ActiveState=active

        """

    private func findings(_ tcp: String, webhooks: String = "off", shown: String = Self.shown) throws -> [Finding] {
        let configuration = try folder.configuration(
            flags: [
                .listenTCP: tcp, .listenUnix: "/run/repairminder-sync/api.sock", .listenAllowRemote: "true",
                .listenAllowPlainHTTP: "true", .signalsListen: webhooks,
            ])
        return try #require(SocketUnitChecks(shown: shown, configuration: configuration)).findings()
    }

    @Test("the packaged unit fits the packaged configuration", arguments: ["localhost:7679", "127.0.0.1:7679"])
    func usual(_ tcp: String) throws {
        #expect(try findings(tcp).map(\.level) == [.ok])
    }

    @Test("another address at the unit's port is an error that says what to change", arguments: ["0.0.0.0:7679"])
    func clash(_ tcp: String) throws {
        let finding = try #require(try findings(tcp).first)
        #expect(finding.level == .error)
        #expect(finding.message.contains("127.0.0.1:7679") && finding.message.contains("at 0.0.0.0:7679"))
        #expect(finding.advice?.contains("systemctl edit repairminder-sync.socket") == true)
    }

    @Test("another port is a warning")
    func otherPort() throws {
        #expect(try findings("127.0.0.1:8000").map(\.level) == [.warning])
    }

    @Test("the unit can hold the address of the webhooks, and need not")
    func webhooks() throws {
        let shown = Self.shown + "Listen=127.0.0.1:9000 (Stream)\n"
        #expect(try findings("localhost:7679", webhooks: "127.0.0.1:9000", shown: shown).map(\.level) == [.ok])
        #expect(try findings("localhost:7679", webhooks: "127.0.0.1:9000").map(\.level) == [.ok])
        #expect(try findings("localhost:7679", shown: shown).map(\.level) == [.warning])
    }

    @Test("a unit that is not active says nothing")
    func inactive() throws {
        let text = Self.shown.replacing("=active", with: "=inactive")
        #expect(SocketUnitChecks(shown: text, configuration: try folder.configuration()) == nil)
    }
}
