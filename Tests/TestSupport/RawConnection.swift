import Foundation
import Glibc

/// A blocking connection of bytes for tests that send what no HTTP client would; no call waits longer than 20 seconds.
package final class RawConnection {
    package struct Failure: Error { package var what: String }

    package struct Answer: Equatable {
        package var status: Int
        package var head: String
        package var body: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Creates the socket only, for `bind(to:)` and a later `connect`.
    package init(family: Int32, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(what: "socket: \(errno)") }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    package convenience init(host: String = "127.0.0.1", port: UInt16, receiveBuffer: Int32? = nil) throws {
        try self.init(family: AF_INET, receiveBuffer: receiveBuffer)
        try connect(host: host, port: port)
    }

    package convenience init(path: String, receiveBuffer: Int32? = nil) throws {
        try self.init(family: AF_UNIX, receiveBuffer: receiveBuffer)
        try connect(path: path)
    }

    deinit { close(descriptor) }

    // MARK: Connecting

    package func connect(host: String, port: UInt16) throws {
        var name = Self.name(host, port)
        try Self.check("connect", &name) { Glibc.connect(descriptor, $0, $1) }
    }

    package func connect(path: String) throws {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        try Self.check("connect", &name) { Glibc.connect(descriptor, $0, $1) }
    }

    /// Calls from this IPv4 address of the machine.
    package func bind(to source: String) throws {
        var name = Self.name(source, 0)
        try Self.check("bind", &name) { Glibc.bind(descriptor, $0, $1) }
    }

    private static func name(_ host: String, _ port: UInt16) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &name.sin_addr)
        return name
    }

    private static func check<Name>(
        _ call: String, _ name: inout Name, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Name>.size)) }
        }
        guard result == 0 else { throw Failure(what: "\(call): \(errno)") }
    }

    // MARK: Sending

    /// Sends everything; a server that has closed is no error, because its answer may still be readable.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes with an open file, over a Unix socket (unix(7), `SCM_RIGHTS`). False if the server has closed.
    package func send(_ text: String, with file: Int32) -> Bool {
        var bytes = Array(text.utf8)
        let head = MemoryLayout<cmsghdr>.size
        let size = head + MemoryLayout<Int32>.size
        return bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &part) { part in
                withUnsafeTemporaryAllocation(byteCount: size, alignment: MemoryLayout<cmsghdr>.alignment) { control in
                    var rights = cmsghdr()
                    rights.cmsg_len = size
                    rights.cmsg_level = SOL_SOCKET
                    rights.cmsg_type = Int32(SCM_RIGHTS)
                    control.storeBytes(of: rights, as: cmsghdr.self)
                    control.storeBytes(of: file, toByteOffset: head, as: Int32.self)
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = size
                    return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) > 0
                }
            }
        }
    }

    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    // MARK: Receiving

    /// The next bytes that arrive; empty once the server has closed.
    package func receive() throws -> [UInt8] {
        var space = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &space, space.count, 0)
        if count < 0, errno == ECONNRESET { return [] }
        guard count >= 0 else { throw Failure(what: "nothing arrived within 20 s (errno \(errno))") }
        return Array(space[..<count])
    }

    /// The next bytes up to and including `mark`; what follows is left for the next call.
    package func receive(through mark: String) throws -> String {
        let bytes = Data(mark.utf8)
        var searched = 0
        while true {
            let rest = Data(buffer[max(0, searched - bytes.count)...])
            if let range = rest.range(of: bytes) { return take(buffer.count - rest.count + range.upperBound) }
            searched = buffer.count
            guard try receiveMore() else { throw Failure(what: "closed before \(mark.debugDescription)") }
        }
    }

    /// Everything until the server closes.
    package func receiveAll() throws -> String {
        while try receiveMore() {}
        return take(buffer.count)
    }

    /// One answer with a Content-Length, or without a body.
    package func receiveAnswer(hasBody: Bool = true) throws -> Answer {
        let head = try receive(through: "\r\n\r\n")
        guard let status = Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)) else { throw Failure(what: "no status") }
        let length = head.firstMatch(of: /Content-Length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        let count = hasBody ? length : 0
        while buffer.count < count {
            guard try receiveMore() else { throw Failure(what: "closed in the middle of a body") }
        }
        return Answer(status: status, head: head, body: take(count))
    }

    /// Whether the server neither answers nor closes the connection for this long.
    package func isQuiet(for limit: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, Int32(limit / .milliseconds(1))) == 0
    }

    /// Sends one request and returns the status of its answer; nil when the server closes instead.
    package func exchange(_ request: String) throws -> Int? {
        send(request)
        if buffer.isEmpty { guard try receiveMore() else { return nil } }
        return try receiveAnswer().status
    }

    private func take(_ count: Int) -> String {
        defer { buffer.removeFirst(count) }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// False once the server has closed.
    private func receiveMore() throws -> Bool {
        let more = try receive()
        buffer += more
        return !more.isEmpty
    }
}
