import Foundation
import Testing

@testable import NetworkMonitor

@Suite("Outgoing link")
struct OutgoingLinkTests {
    @Test("this machine's own addresses are always reachable")
    func loopback() throws {
        #expect(try !isDown("127.0.0.1", AF_INET))
        #expect(try !isDown("::1", AF_INET6))
    }

    @Test("without a route the link does not count as down")
    func noRoute() throws {
        // Class E (RFC 1112, 4), which is never routed, and the discard-only prefix (RFC 6666).
        #expect(try !isDown("240.0.0.1", AF_INET))
        #expect(try !isDown("100::1", AF_INET6))
    }

    @Test("an address that is not an IP address has no link")
    func noAddress() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        #expect(!withUnsafeBytes(of: address) { $0.baseAddress.map(OutgoingLink.isDown) ?? true })
    }

    private func isDown(_ text: String, _ family: Int32) throws -> Bool {
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        try #require(getaddrinfo(text, "80", &hints, &found) == 0)
        defer { freeaddrinfo(found) }
        return OutgoingLink.isDown(to: UnsafeRawPointer(try #require(found?.pointee.ai_addr)))
    }
}
