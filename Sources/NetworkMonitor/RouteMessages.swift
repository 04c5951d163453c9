internal import CLinux

/// Parses the kernel's notifications about links, addresses and routes (rtnetlink(7)).
enum RouteMessages {
    private static let headerSize = 16
    private static let changes: Set<Int> = [
        RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE, RTM_DELROUTE,
    ]

    /// Whether a datagram reports a change. In a truncated datagram, only complete messages count.
    static func reportsChange(_ datagram: UnsafeRawBufferPointer) -> Bool {
        var rest = datagram[...]
        while rest.count >= headerSize {
            let start = rest.startIndex
            let length = Int(datagram.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            let type = Int(datagram.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self))
            guard length >= headerSize, length <= rest.count else { return false }
            if changes.contains(type), !isWirelessEvent(type, rest.prefix(length)) { return true }
            // Messages are aligned to four bytes.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    /// Whether this is a wireless event: scans and signal strengths are reported as link changes but change nothing.
    private static func isWirelessEvent(_ type: Int, _ message: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard type == RTM_NEWLINK else { return false }
        var rest = message.dropFirst(headerSize + MemoryLayout<ifinfomsg>.size)
        while rest.count >= 4 {
            let length = Int(message.base.loadUnaligned(fromByteOffset: rest.startIndex, as: UInt16.self))
            let attribute = Int(message.base.loadUnaligned(fromByteOffset: rest.startIndex + 2, as: UInt16.self))
            guard length >= 4, length <= rest.count else { return false }
            if attribute == Int(IFLA_WIRELESS) { return true }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }
}
