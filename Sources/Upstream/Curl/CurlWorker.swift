internal import CCurl

/// Runs all exchanges on one thread: takes the mailbox's commands, lets libcurl work, resumes the callers, and sleeps
/// until a socket, a deadline or the mailbox has something new.
final class CurlWorker {
    /// Connections kept for reuse, across all hosts. libcurl counts those in use, and at most 32 requests are in flight beside
    /// contents and what callers ask for: with fewer, each of them would make a connection of its own.
    private static let keptConnections = 48

    private let mailbox: CurlMailbox
    private let options: CurlOptions
    private let multi: UnsafeMutableRawPointer
    private let sockets: CurlSockets
    private var exchanges: [UInt64: CurlExchange] = [:]
    private var answers: AnswerQueue
    /// Older connections may be dead.
    private var networkChangedAt: ContinuousClock.Instant?

    init(_ mailbox: CurlMailbox, _ options: CurlOptions, multi: UnsafeMutableRawPointer) {
        self.mailbox = mailbox
        self.options = options
        self.multi = multi
        sockets = CurlSockets(options, mailbox.sockets)
        answers = AnswerQueue(limit: options.answerLimit)
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
        mailbox.setSleeper(UInt(bitPattern: multi))
    }

    deinit {
        mailbox.setSleeper(nil)
        curl_multi_cleanup(multi)
    }

    /// Returns once the mailbox is closed; by then every caller is resumed.
    func run() {
        while obeyCommands() {
            var running: Int32 = 0
            check(curl_multi_perform(multi, &running))
            finishExchanges()
            // libcurl shortens the wait to its own next deadline; with nothing in flight, nothing wakes this thread.
            mailbox.rest()
            check(curl_multi_poll(multi, nil, 0, .max, nil))
        }
        // libcurl reads a connection of TLS once more before it closes it, for as long as a flood of messages comes.
        mailbox.sockets.breakConnections()
        for id in exchanges.keys { remove(id)?.fail(.cancelled) }
    }

    /// Returns false once the mailbox is closed.
    private func obeyCommands() -> Bool {
        let (commands, isClosed) = mailbox.take()
        commands.forEach(obey)
        return !isClosed
    }

    private func obey(_ command: CurlMailbox.Command) {
        switch command {
        case .start(let id, let request, let continuation):
            do throws(TransportError) {
                let exchange = try CurlExchange(id, request, options, sockets, continuation)
                if let networkChangedAt { try exchange.refuseConnections(from: networkChangedAt) }
                exchange.admit = { [unowned self] in share(of: $0, for: id) }
                sockets.breakUnread { exchanges[$0] == nil }
                exchanges[id] = exchange
                check(curl_multi_add_handle(multi, exchange.handle))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        case .cancel(let id):
            remove(id)?.fail(.cancelled)
        case .giveBack(let bytes): goOn(with: answers.giveBack(bytes))
        case .networkChanged:
            let now = ContinuousClock.now
            networkChangedAt = now
            let addresses = options.localAddresses()
            if let addresses { sockets.silence(except: addresses) }
            for exchange in exchanges.values { reconsider(exchange, addresses, now) }
        }
    }

    /// Restarts a request that was not sent yet, because a connection attempt would repeat only after seconds. Fails
    /// one that was sent from an address that is gone or has lost its link: no response can arrive.
    private func reconsider(_ exchange: CurlExchange, _ addresses: Set<String>?, _ now: ContinuousClock.Instant) {
        guard exchange.hasBegun else {
            curl_multi_remove_handle(multi, exchange.handle)
            do throws(TransportError) {
                try exchange.restart(at: now)
                check(curl_multi_add_handle(multi, exchange.handle))
            } catch {
                exchanges.removeValue(forKey: exchange.id)?.fail(error)
            }
            return
        }
        guard let addresses, let address = exchange.localAddress, !addresses.contains(address) else { return }
        remove(exchange.id)?.loseNetwork(at: address)
    }

    private func finishExchanges() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let exchange = CurlExchange.of(message.easy_handle) else { continue }
            let result = message.data.result
            remove(exchange.id)?.finish(result)
        }
    }

    private func remove(_ id: UInt64) -> CurlExchange? {
        guard let exchange = exchanges.removeValue(forKey: id) else { return nil }
        curl_multi_remove_handle(multi, exchange.handle)
        goOn(with: answers.leave(id))
        return exchange
    }

    // MARK: Large answers

    /// Nil when the exchange has to wait.
    private func share(of bytes: Int, for id: UInt64) -> AnswerShare? {
        answers.take(bytes, for: id).map(share)
    }

    private func share(_ bytes: Int) -> AnswerShare {
        AnswerShare(bytes) { [mailbox] in _ = mailbox.post(.giveBack($0)) }
    }

    private func goOn(with ready: [(id: UInt64, bytes: Int)]) {
        for (id, bytes) in ready { exchanges[id]?.goOn(with: share(bytes)) }
    }

    /// A multi handle fails only when memory runs out or libcurl has a bug. The state of the requests in flight is then
    /// unknown.
    private func check(_ code: CURLMcode) {
        guard code != CURLM_OK else { return }
        let reason = String(cString: curl_multi_strerror(code))
        for id in exchanges.keys { remove(id)?.fail(.ambiguous("libcurl aborted all requests in flight (\(reason))")) }
    }
}
