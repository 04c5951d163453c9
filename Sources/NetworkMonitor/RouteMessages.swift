internal import CLinux

/// Reads what the kernel multicasts about links, addresses and routes (rtnetlink(7)).
enum RouteMessages {
    private static let headerSize = 16
    private static let changes: Set<Int> = [
        RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR, RTM_NEWROUTE, RTM_DELROUTE,
    ]

    /// Whether a datagram tells of a change. One that is cut short tells nothing beyond its last whole message.
    static func tellOfChange(_ datagram: UnsafeRawBufferPointer) -> Bool {
        var rest = datagram[...]
        while rest.count >= headerSize {
            let start = rest.startIndex
            let length = Int(datagram.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            let type = Int(datagram.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self))
            guard length >= headerSize, length <= rest.count else { return false }
            if changes.contains(type), !isWirelessNews(type, rest.prefix(length)) { return true }
            // Each message begins at a multiple of four.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    /// Scans and signal strengths are announced as news of the link; they change nothing.
    private static func isWirelessNews(_ type: Int, _ message: Slice<UnsafeRawBufferPointer>) -> Bool {
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
