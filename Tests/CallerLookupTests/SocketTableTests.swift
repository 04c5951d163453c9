import Testing

@testable import CallerLookup

/// The kernel's text, as on a little-endian machine.
@Suite struct SocketTableTests {
    private static let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private static func row(
        _ local: String, _ remote: String = "00000000:0000", _ state: String = "0A", user: Int, inode: Int = 77
    ) -> String {
        "   0: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000 \(user)        0 \(inode) 1 0000 100\n"
    }

    private static let here = SocketTuple.End(address: [127, 0, 0, 1], port: 7679)

    @Test("a listener is found at its address, and at all addresses of either family")
    func listeners() {
        let everywhere6 = String(repeating: "0", count: 32)
        for local in ["0100007F", "00000000", everywhere6, "0000000000000000FFFF00000100007F"] {
            let table = SocketTable(Self.head + Self.row("\(local):1DFF", user: 5))
            #expect(table.listener(at: Self.here) == 5, "\(local)")
        }
        let v6 = SocketTuple.End(address: [UInt8](repeating: 0, count: 15) + [1], port: 7679)
        let row = Self.row("00000000000000000000000001000000:1DFF", user: 6)
        #expect(SocketTable(row).listener(at: v6) == 6)
    }

    @Test("another port, address or state is no listener, nor is a socket that no process holds")
    func others() {
        let rows = [
            Self.row("0100007F:1DFE", user: 5), Self.row("0200007F:1DFF", user: 5),
            Self.row("0100007F:1DFF", "0100007F:0001", "01", user: 5), Self.row("0100007F:1DFF", user: 0, inode: 0),
            "garbage", "0: x y z", Self.row("0100007F", user: 5), Self.row("0G00007F:1DFF", user: 5),
        ]
        for row in rows { #expect(SocketTable(row).listener(at: Self.here) == nil, "\(row)") }
    }

    @Test("listeners of different users are nobody's")
    func several() {
        let table = SocketTable(Self.row("0100007F:1DFF", user: 5) + Self.row("00000000:1DFF", user: 6))
        #expect(table.listener(at: Self.here) == nil)
        let same = SocketTable(Self.row("0100007F:1DFF", user: 5) + Self.row("00000000:1DFF", user: 5))
        #expect(same.listener(at: Self.here) == 5)
    }

    @Test("the end of a connection has an owner once it was accepted")
    func owner() {
        let caller = SocketTuple.End(address: [127, 0, 0, 1], port: 1)
        let tuple = SocketTuple(source: Self.here, destination: caller)
        let accepted = Self.row("0100007F:1DFF", "0100007F:0001", "01", user: 9)
        let waiting = Self.row("0100007F:1DFF", "0100007F:0001", "01", user: 0, inode: 0)
        #expect(SocketTable(accepted).owner(of: tuple) == 9)
        #expect(SocketTable(waiting).owner(of: tuple) == nil)
    }
}
