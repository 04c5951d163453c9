import Glibc
import Testing

@testable import Upstream

@Suite struct OpenSocketsTests {
    /// A socket at both ends of a connection, which the test closes.
    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private func isWhole(_ connection: (Int32, Int32)) -> Bool {
        send(connection.0, "a", 1, Int32(MSG_NOSIGNAL)) == 1
    }

    @Test("a number that is another socket's since is neither broken nor named")
    func reused() throws {
        let (first, other) = (try pair(), try pair())
        defer { [first.0, first.1, other.0, other.1].forEach { _ = close($0) } }
        let sockets = OpenSockets()
        sockets.insert(first.0)
        #expect(sockets.all == [first.0])
        // Closes the first socket and makes its number another one's, as if libcurl had closed it without a word.
        #expect(dup2(other.0, first.0) == first.0)
        sockets.breakConnections()
        #expect(isWhole(other))
        #expect(sockets.all.isEmpty)
    }

    @Test("all that are still the same are broken")
    func broken() throws {
        let (first, second) = (try pair(), try pair())
        defer { [first.0, first.1, second.0, second.1].forEach { _ = close($0) } }
        let sockets = OpenSockets()
        for socket in [first.0, second.0] { sockets.insert(socket) }
        #expect(isWhole(first) && isWhole(second))
        sockets.breakConnections()
        #expect(!isWhole(first) && !isWhole(second))
        #expect(sockets.all == [first.0, second.0])
    }

    /// A connection over TCP, which the test closes.
    private func connection(to port: UInt16) throws -> Int32 {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(made, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        try #require(result == 0)
        return made
    }

    @Test("those that were read are broken, and one that has only received something is not")
    func read() throws {
        let script: [ScriptedServer.Step] = [.send("ab"), .awaitClientLeaving]
        let server = try ScriptedServer(script, script)
        let (first, other) = (try connection(to: server.port), try connection(to: server.port))
        defer { [first, other].forEach { _ = close($0) } }
        let sockets = OpenSockets()
        for socket in [first, other] { sockets.insert(socket) }
        var byte: UInt8 = 0
        #expect(recv(first, &byte, 1, 0) == 1)
        let before = sockets.bytesRead
        #expect(before.count == 2)
        #expect(recv(other, &byte, 1, Int32(MSG_PEEK)) == 1)
        #expect(recv(first, &byte, 1, 0) == 1)
        sockets.breakThose(readSince: before)
        #expect(send(first, "a", 1, Int32(MSG_NOSIGNAL)) == -1)
        #expect(send(other, "a", 1, Int32(MSG_NOSIGNAL)) == 1)
    }
}
