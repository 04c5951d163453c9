import CLinux
import Foundation
import Glibc
import Synchronization

@testable import NetworkMonitor

/// A private network namespace with a socket that receives its changes and one that makes them.
struct TestNetwork: Sendable {
    let routes: RouteSocket
    private let requests: Int32

    struct Failure: Error {
        var code: Int32
    }

    static var isAllowed: Bool {
        guard let network = make() else { return false }
        network.close()
        network.routes.close()
        return true
    }

    /// Nil without permission to create one. Only the thread that creates the sockets enters the namespace.
    static func make() -> TestNetwork? {
        let made = Made()
        Thread.detachNewThread {
            made.network.withLock { $0 = enter() }
            made.done.signal()
        }
        made.done.wait()
        return made.network.withLock { $0 }
    }

    fileprivate static func enter() -> TestNetwork? {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let newNetwork: Int32 = 0x4000_0000
        guard let address = dlsym(nil, "unshare"), unsafeBitCast(address, to: Unshare.self)(newNetwork) == 0,
            let routes = try? RouteSocket()
        else { return nil }
        return TestNetwork(routes: routes, requests: socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), NETLINK_ROUTE))
    }

    private struct Request {
        var header = nlmsghdr()
        var address = ifaddrmsg()
        /// `IFA_LOCAL`: 127.0.0.77.
        var attribute: (length: UInt16, type: UInt16) = (8, UInt16(IFA_LOCAL))
        var value: (UInt8, UInt8, UInt8, UInt8) = (127, 0, 0, 77)
    }

    /// Adds an address to the loopback interface or removes it.
    func setAddress(_ isOn: Bool) throws {
        var request = Request()
        request.header.nlmsg_len = UInt32(MemoryLayout<Request>.size)
        request.header.nlmsg_type = UInt16(isOn ? RTM_NEWADDR : RTM_DELADDR)
        request.header.nlmsg_flags = UInt16(NLM_F_REQUEST | NLM_F_ACK)
        request.address.ifa_family = UInt8(AF_INET)
        request.address.ifa_prefixlen = 32
        request.address.ifa_index = 1
        var bytes = withUnsafeBytes(of: &request) { Array($0) }
        guard send(requests, &bytes, bytes.count, 0) == bytes.count else { throw Failure(code: errno) }
        // The answer: a header, then an error number, 0 for success.
        var answer = [UInt8](repeating: 0, count: 4096)
        guard recv(requests, &answer, answer.count, 0) >= 20 else { throw Failure(code: errno) }
        let code = answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: Int32.self) }
        guard code == 0 else { throw Failure(code: -code) }
    }

    func close() { Glibc.close(requests) }
}

/// The result of a thread.
private final class Made: Sendable {
    let network = Mutex<TestNetwork?>(nil)
    let done = DispatchSemaphore(value: 0)
}
