import Testing

@testable import Upstream

@Suite("The addresses of hosts elsewhere on the internet")
struct NetworkAddressTests {
    @Test(
        "are those that are given out to hosts",
        arguments: ["1.1.1.1", "203.0.114.1", "2a00:1450::1", "::ffff:1.1.1.1"])
    func elsewhere(address: String) {
        #expect(NetworkAddress.isPublic(address, from: []))
    }

    @Test(
        "are none of this machine's, of private networks, of reserved ones, or of tunnels to IPv4",
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
            "192.0.0.170", "192.168.1.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "255.255.255.255", "::", "::1",
            "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "fe80::1", "fd00::1", "ff02::1", "2001::1",
            "2002:7f00:1::",
            "2001:db8::1", "", "localhost", "1.1.1", "0x7f.1",
        ])
    func near(address: String) {
        #expect(!NetworkAddress.isPublic(address, from: []))
    }

    @Test("are not in a network that this machine is part of")
    func linked() throws {
        let networks = try [("2a01:4f8:1:2::5", "ffff:ffff:ffff:ffff::"), ("80.1.2.3", "255.255.255.0")].map {
            try #require(NetworkPrefix(of: $0.0, mask: $0.1))
        }
        for address in ["2a01:4f8:1:2::9", "80.1.2.200", "::ffff:80.1.2.200"] {
            #expect(!NetworkAddress.isPublic(address, from: networks))
        }
        for address in ["2a01:4f8:1:3::9", "80.1.3.200"] { #expect(NetworkAddress.isPublic(address, from: networks)) }
    }

    @Test("may be anything where a tunnel's network is everything")
    func tunnel() throws {
        let tunnel = try #require(NetworkPrefix(of: "80.1.2.3", mask: "0.0.0.0"))
        #expect(NetworkAddress.isPublic("1.1.1.1", from: [tunnel]))
        #expect(!NetworkAddress.isPublic("80.1.2.3", from: [tunnel]))
    }

    @Test("are none when the networks of this machine cannot be listed")
    func unknown() {
        #expect(!NetworkAddress.isPublic("1.1.1.1", from: nil))
    }
}
