import CLinux
import Dispatch
import Glibc
import Synchronization

/// The socket of one caller.
///
/// On a Unix socket a caller can send open files with its bytes (unix(7), `SCM_RIGHTS`). The kernel closes those that are not
/// wanted, on the thread that reads past them or closes the connection. That may take as long as the caller likes: a connection
/// of TCP that has something left to send can linger for hours. So no event loop does either.
struct CallerSocket {
    let descriptor: Int32
    private let isUnix: Bool

    init(_ descriptor: Int32, of peer: Peer) {
        self.descriptor = descriptor
        isUnix = if case .tcp = peer { false } else { true }
    }

    /// As recv(2) without waiting. Fails with EBADMSG if there are files with the next bytes, and leaves all of it unread: then
    /// only `close` is left to do.
    func receive(into space: UnsafeMutableRawBufferPointer) -> Int {
        guard isUnix else { return recv(descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT)) }
        var part = iovec(iov_base: space.baseAddress, iov_len: space.count)
        let (count, flags) = withUnsafeMutablePointer(to: &part) { part in
            var message = msghdr()
            message.msg_iov = part
            message.msg_iovlen = 1
            let count = recvmsg(descriptor, &message, Int32(MSG_PEEK | MSG_DONTWAIT))
            return (count, message.msg_flags)
        }
        guard count > 0 else { return count }
        guard flags & Int32(MSG_CTRUNC) == 0 else {
            errno = EBADMSG
            return -1
        }
        // Exactly these bytes: files may have come after them by now.
        return recv(descriptor, space.baseAddress, count, Int32(MSG_DONTWAIT))
    }

    /// Closes it, in any case without waiting.
    func close() {
        guard isUnix else { return _ = Glibc.close(descriptor) }
        // Nothing can come from here on.
        shutdown(descriptor, Int32(SHUT_RDWR))
        var unread: Int32 = 1
        _ = ioctl(descriptor, UInt(FIONREAD), &unread)
        // Where nothing is unread, there are no files.
        if unread == 0 { Glibc.close(descriptor) } else { ClosingThread.close(descriptor) }
    }
}

/// A thread that has descriptors of its own for a moment, and takes one of them with it: for what a thread closes by ending, the
/// kernel waits for nothing (`PF_EXITING`), and what waits even so keeps only this thread.
private final class ClosingThread: Sendable {
    private let descriptor: Int32
    private let isReady = DispatchSemaphore(value: 0)
    private let isClosedElsewhere = DispatchSemaphore(value: 0)
    private let isApart = Atomic(false)

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Without a thread the descriptor stays open, rather than an event loop waiting.
    static func close(_ descriptor: Int32) {
        let thread = ClosingThread(descriptor)
        let body = Unmanaged.passRetained(thread)
        var id = pthread_t()
        let result = pthread_create(
            &id, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<ClosingThread>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard result == 0 else { return body.release() }
        pthread_detach(id)
        thread.isReady.wait()
        guard thread.isApart.load(ordering: .acquiring) else { return }
        // Not the last one: the thread still has its own.
        Glibc.close(descriptor)
        thread.isClosedElsewhere.signal()
    }

    private func run() {
        let hasOwnDescriptors = clinux_unshare(Int32(CLINUX_FILES)) == 0
        isApart.store(hasOwnDescriptors, ordering: .releasing)
        isReady.signal()
        if hasOwnDescriptors { isClosedElsewhere.wait() } else { Glibc.close(descriptor) }
    }
}
