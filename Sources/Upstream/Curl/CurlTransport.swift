internal import CCurl
internal import Glibc
internal import Synchronization

/// HTTP/1.1 over libcurl, with reused connections and the system's certificates.
///
/// One thread runs all exchanges and sleeps when there are none. It ends with `shutdown()` or the last reference.
/// Two kinds of truncated bodies go unnoticed, so only the content's own syntax can reveal them: one that ends with the
/// connection (RFC 9112, 8), and a compressed one that stops early inside an intact frame, which libcurl 7.88 accepts.
/// `isEndCertain` of the response says whether it may be one of them.
package final class CurlTransport: HTTPTransport {
    private let mailbox = CurlMailbox()
    private let patience: Duration
    /// How long one look at the connections takes.
    private static let look = Duration.milliseconds(100)
    private let nextID = Atomic<UInt64>(0)
    private let thread: Mutex<pthread_t?>

    /// Once per process, as libcurl requires. Swift runs it under a lock. It is never undone, because other code in
    /// this process may use libcurl; initialising it again only increments a counter.
    private static let libraryState = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Starts the thread.
    ///
    /// - `unixSocketPath` sends every request over that socket, whatever its URL's host.
    /// - `caFile` (PEM) replaces the system's certificates; `certificate` (PEM) is this program's own.
    /// - `localAddresses` are those from which packets can leave this machine; nil when they are unknown.
    /// - `isLinkDown` returns whether the link to a `sockaddr` is down; then nothing is sent.
    /// - Nothing is sent to `ownAddresses`, where this program serves callers itself.
    /// - `answerLimit` is how many bytes all large answers may have together, from their arrival until they are released.
    /// - `refusal` looks at each connection before a request is sent, and returns why none may be; libcurl has sent nothing
    ///   until then, unless the server uses TLS.
    /// - `patience` is how long the thread may stay in one call of libcurl that reads.
    ///
    /// Throws `.unreachable` when the machine has no thread or memory left.
    package init(
        userAgent: String, unixSocketPath: String? = nil, caFile: String? = nil,
        certificate: (file: String, keyFile: String)? = nil,
        localAddresses: @escaping @Sendable () -> Set<String>? = LocalAddresses.usable,
        isLinkDown: @escaping @Sendable (UnsafeRawPointer) -> Bool = { _ in false },
        ownAddresses: [(address: String, port: UInt16)] = [], answerLimit: Int = 8 << 20,
        refusal: (@Sendable (_ descriptor: Int32) -> String?)? = nil, patience: Duration = .seconds(4)
    ) throws(TransportError) {
        self.patience = patience
        guard Self.libraryState == CURLE_OK else { throw .unreachable("libcurl cannot be initialised") }
        let options = CurlOptions(
            userAgent: userAgent, unixSocketPath: unixSocketPath, caFile: caFile, certificate: certificate,
            localAddresses: localAddresses, isLinkDown: isLinkDown, ownAddresses: ownAddresses,
            answerLimit: answerLimit, refusal: refusal)
        thread = Mutex(try CurlThread.start(mailbox, options))
    }

    deinit {
        shutdown()
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        if let refusal = request.refusal {
            throw .unsendable("nothing was sent to \(request.host): \(refusal); correct it")
        }
        let id = nextID.wrappingAdd(1, ordering: .relaxed).newValue
        let watch = watch()
        defer { watch.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard mailbox.post(.start(id, request, continuation)) else {
                    return continuation.resume(returning: .failure(.cancelled))
                }
                // A cancellation before the post had nothing to cancel.
                if Task.isCancelled { _ = mailbox.post(.cancel(id)) }
            }
        } onCancel: {
            _ = mailbox.post(.cancel(id))
        }
        return try outcome.get()
    }

    /// Breaks the connection that keeps the thread in one call of libcurl. That reads messages of TLS that are only for the
    /// connection as long as they come fast, without a look at deadlines or at other requests. Where nothing is read, this
    /// machine is slow, as a disk for a body may be: then all connections are left as they are.
    private func watch() -> Task<Void, any Error> {
        Task { [mailbox, patience] in
            while true {
                try await Task.sleep(for: patience)
                guard mailbox.isStuck(for: patience) else { continue }
                let before = mailbox.sockets.bytesRead
                try await Task.sleep(for: Self.look)
                if mailbox.isStuck(for: patience) { mailbox.sockets.breakThose(readSince: before) }
            }
        }
    }

    package func networkChanged() { _ = mailbox.post(.networkChanged) }

    /// Ends the thread and waits for it; idempotent. Requests in flight and all later ones fail with `.cancelled`.
    package func shutdown() {
        mailbox.close()
        thread.withLock { thread in
            if let running = thread { pthread_join(running, nil) }
            thread = nil
        }
    }
}
