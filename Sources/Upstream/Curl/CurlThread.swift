internal import CCurl
internal import Glibc
internal import SystemCalls

/// Starts the thread of a `CurlWorker`.
enum CurlThread {
    private final class Start: Sendable {
        let mailbox: CurlMailbox
        let options: CurlOptions
        /// The multi handle's address; pointers themselves are not `Sendable`.
        let multi: UInt

        init(_ mailbox: CurlMailbox, _ options: CurlOptions, multi: UInt) {
            self.mailbox = mailbox
            self.options = options
            self.multi = multi
        }
    }

    /// Runs until the mailbox is closed; the caller joins it.
    static func start(_ mailbox: CurlMailbox, _ options: CurlOptions) throws(TransportError) -> pthread_t {
        // Without spare file descriptors, libcurl makes a handle that cannot be woken.
        guard let multi = curl_multi_init(), curl_multi_wakeup(multi) == CURLM_OK else {
            throw .unreachable("no memory or file descriptors for HTTP requests: raise the limit on open files")
        }
        let start = Unmanaged.passRetained(Start(mailbox, options, multi: UInt(bitPattern: multi)))
        var thread = pthread_t()
        let failure = pthread_create(&thread, nil, CurlThread.main, start.toOpaque())
        guard failure == 0 else {
            start.release()
            curl_multi_cleanup(multi)
            throw .unreachable(
                "no thread for HTTP requests (\(SystemError(failure))): raise the limit on tasks")
        }
        return thread
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        guard let multi = UnsafeMutableRawPointer(bitPattern: start.multi) else { return nil }
        blockSignals()
        CurlWorker(start.mailbox, start.options, multi: multi).run()
        return nil
    }

    /// Other threads handle signals. SIGPIPE, which OpenSSL's writes to a closed connection raise, must reach none.
    private static func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
