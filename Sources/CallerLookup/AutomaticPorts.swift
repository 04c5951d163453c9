internal import Glibc

/// The ports that the kernel gives to sockets that ask for none (`ip_local_port_range`, ip(7)).
///
/// Found by asking for some of them, because a service may not see the setting (`ProcSubset=pid`).
enum AutomaticPorts {
    /// Linux's default.
    private static let usual: ClosedRange<UInt16> = 32_768...60_999
    /// Enough that the ends of the range are near the least and the greatest of them.
    private static let sampleSize = 256

    /// Whether the kernel may have given this port. False if it gives none now.
    static func include(_ port: UInt16) -> Bool {
        usual.contains(port) || range(around: sample()).map { $0.contains(port) } ?? false
    }

    /// The range that these ports are from, and a little more: its ends need not be among them. Nil without ports.
    static func range(around ports: [UInt16]) -> ClosedRange<UInt16>? {
        guard let least = ports.min(), let greatest = ports.max() else { return nil }
        let margin = (greatest - least) / 16
        return (least - min(margin, least))...(greatest + min(margin, .max - greatest))
    }

    private static func sample() -> [UInt16] { (0..<sampleSize).compactMap { _ in given() } }

    private static func given() -> UInt16? {
        let asking = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard asking >= 0 else { return nil }
        defer { close(asking) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isGiven = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(asking, $0, size) == 0 && getsockname(asking, $0, &size) == 0
            }
        }
        return isGiven ? UInt16(bigEndian: address.sin_port) : nil
    }
}
