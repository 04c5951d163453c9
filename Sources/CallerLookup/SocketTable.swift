internal import Glibc

/// The kernel's table of TCP sockets as text, `/proc/net/tcp` and `/proc/net/tcp6` (proc(5)): for kernels without sock_diag.
///
/// Slow where a machine has many connections, and readable only where /proc is.
struct SocketTable {
    struct Row: Equatable {
        var local: SocketTuple.End
        var remote: SocketTuple.End
        var state: TCPState
        var user: UInt32
        /// 0 if no process holds the socket; the user says nothing then.
        var inode: UInt64
    }

    let rows: [Row]

    /// The sockets of this process's network namespace. Nil when neither file can be read.
    static func current() -> SocketTable? {
        let texts = ["tcp", "tcp6"].compactMap { text(of: "/proc/self/net/\($0)") }
        return texts.isEmpty ? nil : SocketTable(texts.joined(separator: "\n"))
    }

    /// Lines that are not rows are left out.
    init(_ text: String) { rows = text.split(separator: "\n").compactMap(Self.row) }

    /// The user of all sockets that could have accepted a connection to this address: those that listen there, or at all
    /// addresses. Nil when there is none, or when they belong to different users.
    func listener(at end: SocketTuple.End) -> UInt32? {
        let listening = rows.filter { row in
            row.state == .listen && row.inode != 0 && row.local.port == end.port
                && (row.local.address == end.address || row.local.isAnyAddress)
        }
        let users = Set(listening.map(\.user))
        return users.count == 1 ? users.first : nil
    }

    /// The owner of the connection's source end; nil when there is none yet.
    func owner(of tuple: SocketTuple) -> UInt32? {
        rows.first { $0.local == tuple.source && $0.remote == tuple.destination && $0.inode != 0 }?.user
    }

    private static func row(_ line: Substring) -> Row? {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count >= 10, let local = end(words[1]), let remote = end(words[2]),
            let state = UInt8(words[3], radix: 16), let user = UInt32(words[7]), let inode = UInt64(words[9])
        else { return nil }
        return Row(local: local, remote: remote, state: TCPState(rawValue: state), user: user, inode: inode)
    }

    /// `0100007F:1DFF`: an address in words of 32 bits, as they are in memory, and a port.
    private static func end(_ text: Substring) -> SocketTuple.End? {
        let parts = text.split(separator: ":")
        guard parts.count == 2, [8, 32].contains(parts[0].utf8.count), let port = UInt16(parts[1], radix: 16) else {
            return nil
        }
        var address: [UInt8] = []
        var rest = parts[0]
        while !rest.isEmpty {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { address += $0 }
            rest = rest.dropFirst(8)
        }
        return SocketTuple.End(address: address, port: port)
    }

    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
            bytes += piece[..<count]
        }
    }
}

extension SocketTuple.End {
    /// Whether it stands for every address of this machine.
    fileprivate var isAnyAddress: Bool { address.dropFirst(isIPv4 ? 12 : 0).allSatisfy { $0 == 0 } }
}
