import Glibc

/// A connection of bytes to a port of 127.0.0.1; no call waits longer than 20 seconds.
final class RawConnection {
    struct Failure: Error { var step: String }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(step: "socket: \(errno)") }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(step: "connect: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Sends all of it, as far as the server takes it.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything until the server closes.
    func receiveAll() throws -> String {
        while try receiveMore() {}
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// What comes up to `mark` and with it; what comes after it in the same piece is left for the next call.
    func receive(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while !buffer.contains(mark) {
            guard try receiveMore() else { throw Failure(step: "closed before the mark") }
        }
        let end = buffer.ranges(of: mark)[0].upperBound
        defer { buffer.removeFirst(end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
    }

    /// Sends one request and reads the one answer, which must have a length; nil when the server closes instead.
    func exchange(_ request: String) throws -> Int? {
        send(request)
        let end = Array("\r\n\r\n".utf8)
        while !buffer.contains(end) { guard try receiveMore() else { return nil } }
        let start = buffer.ranges(of: end)[0].upperBound
        let head = String(decoding: buffer[..<start], as: UTF8.self)
        let length = head.firstMatch(of: /Content-Length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        while buffer.count < start + length { guard try receiveMore() else { return nil } }
        buffer.removeFirst(start + length)
        return Int(head.dropFirst("HTTP/1.1 ".count).prefix(3))
    }

    /// False once the server has closed.
    private func receiveMore() throws -> Bool {
        var space = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &space, space.count, 0)
        if count == 0 || count < 0 && errno == ECONNRESET { return false }
        guard count > 0 else { throw Failure(step: "nothing came within 20 s (errno \(errno))") }
        buffer += space[..<count]
        return true
    }
}
