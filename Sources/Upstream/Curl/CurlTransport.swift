internal import CCurl
internal import Glibc
internal import Synchronization

/// HTTP over libcurl: HTTP/2 where the server has it, kept connections, the system's certificates.
///
/// One thread runs all exchanges and sleeps when there are none. It ends with `shutdown()` or the last reference.
/// Two cut-off bodies pass unseen, and only the content's own syntax can tell: one framed by the connection's close alone
/// (RFC 9112, 8), and a packed one that stops early inside an intact frame, which libcurl 7.88 does not notice.
package final class CurlTransport: HTTPTransport {
    private let mailbox = CurlMailbox()
    private let nextID = Atomic<UInt64>(0)
    private let thread: Mutex<pthread_t?>

    /// Once per process, as libcurl asks; Swift runs it under a lock, and nothing undoes it, since another user of libcurl
    /// in this process may rely on it. Setting it up again, as such a user may, only counts.
    private static let libraryState = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Starts the thread.
    ///
    /// `unixSocketPath` takes every request over that socket, `caFile` (PEM) replaces the system's certificates, and
    /// `proxy` (a URL) is the only way to one: the environment does not count. `localAddresses` are those by which packets
    /// can leave this machine, and `isLinkDown` tells of a `sockaddr` whether none could reach it: nothing is sent then.
    /// Throws `.unreachable` when the machine has no thread or memory to give.
    package init(
        userAgent: String, unixSocketPath: String? = nil, caFile: String? = nil, proxy: String? = nil,
        localAddresses: @escaping @Sendable () -> Set<String>? = LocalAddresses.usable,
        isLinkDown: @escaping @Sendable (UnsafeRawPointer) -> Bool = { _ in false }
    ) throws(TransportError) {
        guard Self.libraryState == CURLE_OK else { throw .unreachable("libcurl cannot be set up") }
        let options = CurlOptions(
            userAgent: userAgent, unixSocketPath: unixSocketPath, caFile: caFile, proxy: proxy,
            localAddresses: localAddresses, isLinkDown: isLinkDown)
        thread = Mutex(try CurlThread.start(mailbox, options))
    }

    deinit {
        shutdown()
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        if let refusal = request.refusal {
            throw .unreachable("nothing was sent to \(request.host): \(refusal), so correct it")
        }
        let id = nextID.wrappingAdd(1, ordering: .relaxed).newValue
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard mailbox.post(.start(id, request, continuation)) else {
                    return continuation.resume(returning: .failure(.cancelled))
                }
                // A cancellation from before the post has found nothing to cancel.
                if Task.isCancelled { _ = mailbox.post(.cancel(id)) }
            }
        } onCancel: {
            _ = mailbox.post(.cancel(id))
        }
        return try outcome.get()
    }

    package func networkChanged() { _ = mailbox.post(.networkChanged) }

    /// Ends the thread and waits for it; idempotent. What is in flight, and every later request, fails with `.cancelled`.
    package func shutdown() {
        mailbox.close()
        thread.withLock { thread in
            if let running = thread { pthread_join(running, nil) }
            thread = nil
        }
    }
}
