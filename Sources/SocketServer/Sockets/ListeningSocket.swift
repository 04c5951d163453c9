import Glibc
import SystemCalls

/// One bound, listening, non-blocking socket.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let address: BoundAddress
    /// The identity of the socket's file, so only that file is removed at the end; nil when there is none to remove.
    private var file: (device: dev_t, inode: ino_t)?

    /// Opens the socket that a listener describes.
    static func open(_ listener: Listener) throws(ServerError) -> ListeningSocket {
        switch listener {
        case .tcp(let host, let port): try tcp(host: host, port: port)
        case .unix(let path, let mode, let group): try unix(path: path, mode: mode, group: group)
        case .descriptor(let descriptor): try adopt(descriptor)
        }
    }

    /// Opens 127.0.0.1 and [::1] at one port that the system chooses. Tries another one if it is taken at [::1].
    static func openLoopbacks() throws(ServerError) -> (ListeningSocket, ListeningSocket) {
        var triesLeft = 100
        while true {
            let first = try tcp(host: "127.0.0.1", port: 0)
            do throws(ServerError) {
                return (first, try tcp(host: "::1", port: first.port ?? 0))
            } catch {
                first.close()
                triesLeft -= 1
                guard case .addressTaken = error, triesLeft > 0 else { throw error }
            }
        }
    }

    /// Nil for a Unix socket.
    var port: UInt16? { if case .tcp(let endpoint) = address { endpoint.port } else { nil } }

    /// Whether it has the type and address of `listener`.
    func serves(_ listener: Listener) -> Bool {
        switch (listener, address) {
        case (.tcp(let host, let port), .tcp(let endpoint)): endpoint.address == host && endpoint.port == port
        case (.unix(let path, _, _), .unix(let own)): own == path
        default: false
        }
    }

    /// Closes the socket, and removes its file.
    func close() {
        Glibc.close(descriptor)
        guard case .unix(let path) = address, let file, let now = stat(ofLink: path) else { return }
        if now.st_dev == file.device, now.st_ino == file.inode { unlink(path) }
    }

    private static func tcp(host: String, port: UInt16) throws(ServerError) -> ListeningSocket {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let info = list?.pointee else {
            throw .unusable("\(host) is not a numeric address; use one such as 127.0.0.1 or ::1.")
        }
        defer { freeaddrinfo(list) }
        let descriptor = try makeSocket(info.ai_family)
        do throws(ServerError) {
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
            if info.ai_family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
            guard bind(descriptor, info.ai_addr, info.ai_addrlen) == 0 else {
                throw bindError("\(host) port \(port)")
            }
            try startListening(descriptor, "\(host) port \(port)")
            return ListeningSocket(descriptor: descriptor, address: try boundAddress(descriptor))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Binds a socket file. No caller can connect before `listen`, so mode and group are set in between.
    private static func unix(path: String, mode: UInt32, group: UInt32?) throws(ServerError) -> ListeningSocket {
        var (address, length) = try SocketAddress.unix(path: path)
        try removeStale(path)
        let descriptor = try makeSocket(AF_UNIX)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else {
            defer { Glibc.close(descriptor) }
            throw bindError(path)
        }
        do throws(ServerError) {
            try setPermissions(path: path, mode: mode, group: group)
            guard let status = stat(ofLink: path) else {
                throw .system("\(path) disappeared while it was being created.")
            }
            try startListening(descriptor, path)
            return ListeningSocket(
                descriptor: descriptor, address: .unix(path: path), file: (status.st_dev, status.st_ino))
        } catch {
            Glibc.close(descriptor)
            unlink(path)
            throw error
        }
    }

    /// Sets the permissions of the socket's file to those of `listener`.
    func setPermissions(of listener: Listener) throws(ServerError) {
        guard case .unix(let path, let mode, let group) = listener else { return }
        try Self.setPermissions(path: path, mode: mode, group: group)
    }

    /// Those of the socket itself: who owns the folder could have put a link to another file in its place.
    private static func setPermissions(path: String, mode: UInt32, group: UInt32?) throws(ServerError) {
        let file = Glibc.open(path, asPlace | O_NOFOLLOW | O_CLOEXEC)
        defer { Glibc.close(file) }
        guard file >= 0, let status = stat(of: file), status.isSocket else {
            throw .notPermitted("\(path) is no socket any more; find out who has replaced it, then restart the daemon.")
        }
        let place = "/proc/self/fd/\(file)"
        // A file that already belongs to the group needs no `chown`, which a sandbox may forbid.
        guard chmod(place, mode) == 0, group.map({ status.st_gid == $0 || chown(place, uid_t.max, $0) == 0 }) ?? true
        else {
            throw .notPermitted(
                "Cannot set the mode and group of \(path) (\(SystemError.last)); check the group and the directory.")
        }
    }

    /// `O_PATH`, which is not in Swift's Glibc: a socket cannot be opened otherwise.
    private static let asPlace: Int32 = 0o10000000

    /// Takes over a socket that is already listening.
    private static func adopt(_ descriptor: Int32) throws(ServerError) -> ListeningSocket {
        var listens: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
            throw .unusable("Descriptor \(descriptor) is not a listening stream socket; check the socket unit.")
        }
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw .system("Cannot configure descriptor \(descriptor) (\(SystemError.last)).") }
        // What the kernel says about callers with their bytes, as with `PassCredentials=yes`, would count as files that they send.
        var off: Int32 = 0
        for option in [SO_PASSCRED, SO_PASSSEC] { setsockopt(descriptor, SOL_SOCKET, option, &off, size) }
        return ListeningSocket(descriptor: descriptor, address: try boundAddress(descriptor))
    }

    /// Removes a socket file without a listener; keeps any other file.
    private static func removeStale(_ path: String) throws(ServerError) {
        guard let status = stat(ofLink: path) else { return }
        guard status.isSocket else {
            throw .unusable("\(path) exists and is not a socket; remove it or choose another path.")
        }
        var (address, length) = try SocketAddress.unix(path: path)
        let probe = try makeSocket(AF_UNIX)
        defer { Glibc.close(probe) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(probe, $0, length) }
        }
        guard result != 0, errno == ECONNREFUSED else {
            throw .addressTaken("Another process may be listening on \(path); stop it or choose another path.")
        }
        unlink(path)
    }

    private static func makeSocket(_ family: Int32) throws(ServerError) -> Int32 {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, Int32(type), 0)
        guard descriptor >= 0 else { throw .system("Cannot create a socket (\(SystemError.last)).") }
        return descriptor
    }

    private static func startListening(_ descriptor: Int32, _ name: String) throws(ServerError) {
        guard listen(descriptor, SOMAXCONN) == 0 else { throw bindError(name) }
    }

    private static func bindError(_ name: String) -> ServerError {
        switch errno {
        case EADDRINUSE: .addressTaken("Another process is listening on \(name); stop it or choose another address.")
        case EACCES, EPERM:
            .notPermitted("Listening on \(name) is not permitted; choose another address or change the permissions.")
        case EADDRNOTAVAIL: .unusable("\(name) is not an address of this machine; choose one that is.")
        case ENOENT, ENOTDIR: .unusable("The directory of \(name) does not exist; create it or choose another path.")
        default: .system("Listening on \(name) failed (\(SystemError.last)).")
        }
    }

    private static func boundAddress(_ descriptor: Int32) throws(ServerError) -> BoundAddress {
        switch SocketAddress.local(of: descriptor) {
        case .inet(let endpoint): return .tcp(endpoint)
        case .unix(let path): return .unix(path: path)
        case nil: throw .unusable("Descriptor \(descriptor) is neither a TCP nor a Unix socket.")
        }
    }
}
