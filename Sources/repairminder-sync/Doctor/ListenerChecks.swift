import CallerLookup
import Foundation
import Glibc
import SocketServer

/// Checks who listens at the daemon's addresses, whether or not it runs. Sends nothing there.
struct ListenerChecks {
    let configuration: Configuration
    let lookup: CallerLookup

    private static let check = "daemon"

    func findings() -> [Finding] {
        var listeners = ListenerGuard()
        listeners.trustOwner(of: configuration.stateDirectory)
        listeners.trustOwner(ofFolderOf: ConnectionOptions.systemSocket)
        var findings: [Finding] = []
        for (host, port) in configuration.listen.tcp?.addresses ?? [] where port != 0 {
            let place = ListenAddress.text(host, port)
            findings.append(finding(place, Self.connection(host, port), listeners))
        }
        if let path = configuration.listen.unix {
            var trusted = listeners
            trusted.trustOwner(ofFolderOf: path)
            findings.append(finding(path, Self.connection(path), trusted))
        }
        return findings
    }

    /// Who listens at an address of a browser, which `listeners` do not accept; nil if there is no such listener.
    ///
    /// A browser tries all addresses of `localhost`.
    static func refusal(at address: ListenAddress, _ listeners: ListenerGuard, _ lookup: CallerLookup) -> String? {
        for (host, port) in address.addresses {
            let descriptor = connection(host, port)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if let refusal = listeners.refusal(of: descriptor, lookup) {
                return "\(ListenAddress.text(host, port)): \(refusal)"
            }
        }
        return nil
    }

    /// `descriptor` is connected, or -1 if nothing accepts connections there.
    private func finding(_ place: String, _ descriptor: Int32, _ listeners: ListenerGuard) -> Finding {
        guard descriptor >= 0 else {
            return .ok(Self.check, "\(place) takes no connection of this user: the daemon does not run, or refuses it")
        }
        // Closing one to a Unix socket could take hours: files that the listener has sent would be closed with it.
        let path = place.hasPrefix("/") ? place : nil
        defer { if path == nil { close(descriptor) } }
        guard let refusal = listeners.refusal(of: descriptor, at: path, lookup) else {
            return .ok(Self.check, "\(place) is the daemon's")
        }
        return .error(
            Self.check, "\(place): \(refusal)",
            "stop that program; send no token there, and install the socket unit, so that no other user gets it")
    }

    // MARK: Connections

    private static func connection(_ host: String, _ port: UInt16) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let info = list?.pointee else { return -1 }
        defer { freeaddrinfo(list) }
        return connected(info.ai_family) { connect($0, info.ai_addr, info.ai_addrlen) }
    }

    private static func connection(_ path: String) -> Int32 {
        guard var (address, _) = try? SocketAddress.unix(path: path) else { return -1 }
        return withUnsafeBytes(of: &address) { raw in
            connected(AF_UNIX) {
                connect($0, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }

    /// Gives up after 2 s: the listener may not accept.
    private static func connected(_ family: Int32, _ connect: (Int32) -> Int32) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return -1 }
        // Seconds and microseconds, as in `timeval`: which module that type is from depends on what else is compiled.
        var limit = (2, 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
        guard connect(descriptor) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}
