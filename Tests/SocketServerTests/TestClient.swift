import Glibc
import SocketServer
import Testing

/// A blocking byte-level client that can break the protocol; no call waits longer than 10 seconds.
final class TestClient {
    struct Failure: Error { var what: String }

    struct Answer: Equatable {
        var status: Int
        var head: String
        var body: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Creates only the socket, for `connect(to:)` later.
    init(unconnected address: BoundAddress) throws {
        let family: Int32
        switch address {
        case .tcp: family = AF_INET
        case .unix: family = AF_UNIX
        }
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(what: "socket: \(errno)") }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    convenience init(_ address: BoundAddress, receiveBuffer: Int32? = nil) throws {
        try self.init(unconnected: address)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        try connect(to: address)
    }

    func connect(to address: BoundAddress) throws {
        guard Self.connect(descriptor, address) == 0 else { throw Failure(what: "connect: \(errno)") }
    }

    /// Calls from this IPv4 address of the machine.
    func bind(to source: String) throws {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, source, &name.sin_addr)
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(what: "bind: \(errno)") }
    }

    /// Requests `/` and returns the status; nil when the server closes instead.
    func ask() -> Int? {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return (try? receiveAnswer())?.status
    }

    deinit { Glibc.close(descriptor) }

    private static func connect(_ descriptor: Int32, _ address: BoundAddress) -> Int32 {
        switch address {
        case .tcp(let endpoint):
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = endpoint.port.bigEndian
            inet_pton(AF_INET, endpoint.address, &name.sin_addr)
            return withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
            return withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }

    /// Sends everything. A closed server is not an error, because its response may still be readable.
    func send(_ text: String) { send([UInt8](text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next available bytes; empty once the server has closed.
    func receive() throws -> [UInt8] {
        var space = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &space, space.count, 0)
        if count < 0, errno == ECONNRESET { return [] }
        guard count >= 0 else { throw Failure(what: "nothing came within 10 s (errno \(errno))") }
        return Array(space[..<count])
    }

    /// The next bytes up to and including `mark`.
    func receive(through mark: String) throws -> String {
        let mark = [UInt8](mark.utf8)
        while true {
            if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
                defer { buffer.removeFirst(end + mark.count) }
                return String(decoding: buffer[..<(end + mark.count)], as: UTF8.self)
            }
            let more = try receive()
            guard !more.isEmpty else { throw Failure(what: "closed before the mark") }
            buffer += more
        }
    }

    /// One response with a Content-Length, or without a body.
    func receiveAnswer(hasBody: Bool = true) throws -> Answer {
        let head = try receive(through: "\r\n\r\n")
        let status = try #require(Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)))
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
            .flatMap { Int($0.dropFirst("Content-Length: ".count)) }
        let count = hasBody ? length ?? 0 : 0
        while buffer.count < count {
            let more = try receive()
            guard !more.isEmpty else { throw Failure(what: "closed within a body") }
            buffer += more
        }
        defer { buffer.removeFirst(count) }
        return Answer(status: status, head: head, body: String(decoding: buffer[..<count], as: UTF8.self))
    }

    /// Everything until the server closes.
    func receiveAll() throws -> String {
        while true {
            let more = try receive()
            if more.isEmpty { break }
            buffer += more
        }
        defer { buffer = [] }
        return String(decoding: buffer, as: UTF8.self)
    }
}

/// The statuses of all responses in a byte stream.
func statuses(_ text: String) -> [Int] {
    text.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
}
