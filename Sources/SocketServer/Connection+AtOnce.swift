/// Answers requests when they arrive, without waking the connection's task.
///
/// Nearly all requests can be answered this way: they arrive as a whole, their answer is known at once, and the kernel takes
/// all of it. To wake the task for them, and to go through its asynchronous calls, takes as long as reading a record.
/// Everything else is left to the task, which goes on where this stops.
extension Connection {
    /// What has begun and is left to the task.
    enum Unfinished {
        case refused(Refusal)
        /// With the reply, if the handler has been called.
        case request(RequestParser.Message, Reply?)
        /// The kernel has taken the first `sent` bytes.
        case answer(head: [UInt8], body: [UInt8], sent: Int)
    }

    /// How long one caller may keep all others waiting with requests that it sends without awaiting their answers.
    private static let turn: Duration = .milliseconds(1)

    /// Reads once, and answers what it has read, for one turn. False if the task has something to do.
    func answersAtOnce() -> Bool {
        guard phase == .receiving, waiter != nil, parser.stage == .idle, isReadable, !peerClosed, !isBroken, !isDraining
        else { return false }
        var hasAnsweredNow = false
        do {
            try read { parser.append($0) }
            let begun = ContinuousClock.now
            while let message = try parser.next() {
                guard answersAtOnce(message) else { return false }
                hasAnsweredNow = true
                guard parser.stage == .idle || .now - begun < Self.turn else { return false }
            }
        } catch let refusal as Refusal {
            unfinished = .refused(refusal)
            return false
        } catch {
            isBroken = true
            return false
        }
        // What is not a request, such as an empty line, does not prolong the wait for one.
        if hasAnsweredNow { awaitNext() }
        // A part of a request has a time limit of its own, and the kernel may have more.
        return parser.stage == .idle && !isReadable && !peerClosed
    }

    /// The next request has all of its time from now on.
    func awaitNext() {
        hasAnswered = true
        let now = ContinuousClock.now
        due = now + limits.idle
        deadline = due
        loop.announce(due)
        awaitsCaller(since: now)
    }

    private func answersAtOnce(_ message: RequestParser.Message) -> Bool {
        guard !message.isStreamed else {
            unfinished = .request(message, nil)
            return false
        }
        let reply = context.handler(request(message))
        guard message.keepsAlive, case .now(let response) = reply, case .bytes(let body) = response.body,
            response.ending == .complete, !response.closes, let head = context.writer.head(of: response, closes: false)
        else {
            var answered = message
            answered.body = []
            unfinished = .request(answered, reply)
            return false
        }
        return sendsAtOnce(head, ResponseWriter.hasBody(response, to: message.method) ? body : [])
    }

    private func sendsAtOnce(_ head: [UInt8], _ body: [UInt8]) -> Bool {
        let sent = max(0, SocketParts(head, body, []).send(from: 0, to: descriptor))
        let total = head.count + body.count
        if sent == total { return true }
        // Before others have their turn: they may have large answers too.
        guard hold(unsent: total, insteadOf: 0) else {
            isBroken = true
            return false
        }
        unsentBytes = total
        // The task tries again, and finds out why.
        unfinished = .answer(head: head, body: body, sent: sent)
        return false
    }

    /// Counts an answer that its caller has not received completely: all of it is in memory. False if that would be too much.
    func hold(unsent bytes: Int, insteadOf before: Int) -> Bool {
        context.unsent.change(from: before, to: bytes, of: holder)
    }
}
