import Glibc
import SocketServer
import TestSupport

typealias TestClient = RawConnection

extension RawConnection {
    /// Creates the socket only, for a later `connect(to:)`.
    convenience init(unconnected address: BoundAddress) throws {
        try self.init(family: Self.family(of: address))
    }

    convenience init(_ address: BoundAddress, receiveBuffer: Int32? = nil) throws {
        try self.init(family: Self.family(of: address), receiveBuffer: receiveBuffer)
        try connect(to: address)
    }

    func connect(to address: BoundAddress) throws {
        switch address {
        case .tcp(let endpoint): try connect(host: endpoint.address, port: endpoint.port)
        case .unix(let path): try connect(path: path)
        }
    }

    private static func family(of address: BoundAddress) -> Int32 {
        switch address {
        case .tcp: AF_INET
        case .unix: AF_UNIX
        }
    }

    /// Requests `/` and returns the status; nil when the server closes instead.
    func ask() -> Int? {
        send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        return (try? receiveAnswer())?.status
    }
}

/// The statuses of all responses in a byte stream.
func statuses(_ text: String) -> [Int] {
    text.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
}
