internal import CLinux
internal import Glibc
internal import SystemCalls

/// A netlink socket that receives notifications about links, addresses and routes; never blocks.
struct RouteSocket: Sendable {
    let descriptor: Int32

    enum Reading: Equatable {
        /// Something changed, or so much that the kernel dropped notifications.
        case change
        /// A datagram that reports no change.
        case other
        /// There is nothing to read now.
        case empty
        /// The subscription has ended.
        case broken
    }

    private static let groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE

    init() throws(NetworkMonitorError) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard descriptor >= 0 else { throw NetworkMonitorError("cannot open a netlink socket") }
        var address = sockaddr_nl()
        address.nl_family = UInt16(AF_NETLINK)
        address.nl_groups = UInt32(Self.groups)
        let bound = withUnsafeBytes(of: &address) { bytes in
            bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard bound == 0 else {
            let error = NetworkMonitorError("cannot subscribe to network changes")
            close()
            throw error
        }
    }

    /// Reads one datagram; ignores datagrams not sent by the kernel.
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
        let isChange = buffer.withUnsafeBytes {
            RouteMessages.reportsChange(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        return isChange ? .change : .other
    }

    func close() { Glibc.close(descriptor) }
}

/// Why the subscription failed: the attempted operation and the system's error.
package struct NetworkMonitorError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ what: String) { description = "\(what) (\(SystemError.last))" }
}
