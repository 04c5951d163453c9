import Glibc

/// Who holds a connection, as far as the kernel says. Strangers' connections are shared fairly among their holders.
package enum ConnectionHolder: Hashable, Sendable {
    case user(UInt32)
    /// A program of this machine whose user is unknown. It can call from every address of the loopback network.
    case thisMachine
    /// An IPv4 address, or the first half of an IPv6 address: one machine can have every address of such a network.
    case network([UInt8])
    case unknown

    package init(_ caller: Caller, _ peer: Peer) {
        if let user = caller.user {
            self = .user(user)
        } else if case .tcp(let remote, _) = peer {
            self = Self.holder(of: remote.address)
        } else {
            self = .unknown
        }
    }

    /// `address` is in numeric form, possibly with a zone: `fe80::1%eth0`.
    private static func holder(of address: String) -> ConnectionHolder {
        let text = String(address.prefix { $0 != "%" })
        guard var bytes = Self.bytes(of: text, AF_INET, count: 4) ?? Self.bytes(of: text, AF_INET6, count: 16) else {
            return .unknown
        }
        let zeros = bytes.prefix { $0 == 0 }.count
        if zeros == 15, bytes.last == 1 { return .thisMachine }
        // An IPv4 address as IPv6 writes it, ::ffff:192.0.2.1.
        if zeros == 10, bytes[10] == 0xFF, bytes[11] == 0xFF { bytes.removeFirst(12) }
        return bytes.count == 4 && bytes[0] == 127 ? .thisMachine : .network(Array(bytes.prefix(8)))
    }

    private static func bytes(of text: String, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
