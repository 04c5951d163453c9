internal import CLinux
internal import Glibc

/// The network link that packets to an address would leave by, according to the kernel's routes (rtnetlink(7)).
package enum OutgoingLink {
    /// Whether that link is down, for example because its cable is unplugged; false when the kernel does not report it.
    ///
    /// `address` is a complete `sockaddr` of its family. Sending over a link that is down would start address
    /// resolution, three tries in three seconds, even when the link comes back: new packets would wait for it and might
    /// fail with it.
    package static func isDown(to address: UnsafeRawPointer) -> Bool {
        guard let kernel = RouteRequests(), let number = interface(towards: address, kernel) else { return false }
        var message = ifinfomsg()
        message.ifi_index = number
        guard let link: ifinfomsg = kernel.ask(RTM_GETLINK, bytes(of: message)).flatMap({ value(in: $0[...]) }) else {
            return false
        }
        return link.ifi_flags & UInt32(IFF_RUNNING) == 0
    }

    /// Nil when the address is not an IP address or has no route.
    private static func interface(towards address: UnsafeRawPointer, _ kernel: borrowing RouteRequests) -> Int32? {
        var message = rtmsg()
        let destination: [UInt8]
        switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            message.rtm_family = UInt8(AF_INET)
            destination = bytes(of: address.loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6:
            let end = address.loadUnaligned(as: sockaddr_in6.self)
            guard end.sin6_scope_id == 0 else { return Int32(exactly: end.sin6_scope_id) }
            message.rtm_family = UInt8(AF_INET6)
            destination = bytes(of: end.sin6_addr)
        default: return nil
        }
        message.rtm_dst_len = UInt8(destination.count * 8)
        let attribute = rtattr(
            rta_len: UInt16(MemoryLayout<rtattr>.size + destination.count), rta_type: UInt16(RTA_DST.rawValue))
        return kernel.ask(RTM_GETROUTE, bytes(of: message) + bytes(of: attribute) + destination).flatMap(interface)
    }

    private static func interface(of route: [UInt8]) -> Int32? {
        var rest = route.dropFirst(MemoryLayout<rtmsg>.size)
        while let attribute: rtattr = value(in: rest) {
            let length = Int(attribute.rta_len)
            guard length >= MemoryLayout<rtattr>.size, length <= rest.count else { return nil }
            if attribute.rta_type == UInt16(RTA_OIF.rawValue) {
                return value(in: rest.dropFirst(MemoryLayout<rtattr>.size))
            }
            // Attributes are aligned to four bytes.
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return nil
    }
}

/// A netlink socket for requests about routes and links; never blocks.
private struct RouteRequests: ~Copyable {
    private let descriptor: Int32

    /// Nil when the process is not allowed to open such a socket.
    init?() {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, type, NETLINK_ROUTE)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Sends a request and returns the kernel's response without its header, cut to 4 KiB; nil for an error.
    func ask(_ type: Int, _ message: [UInt8]) -> [UInt8]? {
        let headerSize = MemoryLayout<nlmsghdr>.size
        let header = nlmsghdr(
            nlmsg_len: UInt32(headerSize + message.count), nlmsg_type: UInt16(type), nlmsg_flags: UInt16(NLM_F_REQUEST),
            nlmsg_seq: 0, nlmsg_pid: 0)
        let question = bytes(of: header) + message
        guard send(descriptor, question, question.count, 0) == question.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 4096)
        // The kernel has responded when `send` returns.
        let count = recv(descriptor, &answer, answer.count, 0)
        guard count > 0, let said: nlmsghdr = value(in: answer[..<count]), Int32(said.nlmsg_type) != NLMSG_ERROR else {
            return nil
        }
        return Array(answer[headerSize..<count])
    }
}

private func bytes<Value>(of value: Value) -> [UInt8] { withUnsafeBytes(of: value, Array.init) }

/// The value at the start of the bytes; nil when there are too few.
private func value<Value: BitwiseCopyable>(in bytes: ArraySlice<UInt8>) -> Value? {
    guard bytes.count >= MemoryLayout<Value>.size else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
}
