internal import CLinux
internal import Glibc

/// A netlink socket that receives what the kernel says about links, addresses and routes; never blocks.
struct RouteSocket: Sendable {
    let descriptor: Int32

    enum Reading: Equatable {
        /// Something changed, or so much did that the kernel gave up telling it all.
        case change
        /// A datagram that tells of no change.
        case other
        /// Nothing is there now.
        case empty
        /// Nothing will ever come.
        case broken
    }

    private static let groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE

    init() throws(NetworkMonitorError) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard descriptor >= 0 else { throw NetworkMonitorError("no netlink socket could be made") }
        var address = sockaddr_nl()
        address.nl_family = UInt16(AF_NETLINK)
        address.nl_groups = UInt32(Self.groups)
        let bound = withUnsafeBytes(of: &address) { bytes in
            bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard bound == 0 else {
            let error = NetworkMonitorError("network changes could not be subscribed to")
            close()
            throw error
        }
    }

    /// Takes one datagram. What did not come from the kernel itself counts for nothing.
    func read(into buffer: inout [UInt8]) -> Reading {
        var sender = sockaddr_nl()
        var size = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let count = withUnsafeMutableBytes(of: &sender) { sender in
            recvfrom(
                descriptor, &buffer, buffer.count, 0, sender.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard count >= 0 else {
            switch errno {
            case EINTR: return .other
            case EAGAIN: return .empty
            case ENOBUFS: return .change
            default: return .broken
            }
        }
        guard size == MemoryLayout<sockaddr_nl>.size, sender.nl_pid == 0 else { return .other }
        let tells = buffer.withUnsafeBytes {
            RouteMessages.tellOfChange(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        return tells ? .change : .other
    }

    func close() { Glibc.close(descriptor) }
}

/// Why the kernel cannot be listened to; the message says what was tried and what it answered.
package struct NetworkMonitorError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ what: String) {
        description = "\(what) (\(String(cString: strerror(errno))))"
    }
}
