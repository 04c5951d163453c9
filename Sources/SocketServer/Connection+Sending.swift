import Glibc

/// Hands answers to the kernel: whole, in pieces, or as a stream that is produced while it is sent.
extension Connection {
    /// The response and its head; a response that is not valid HTTP becomes a 500.
    func written(_ response: Response, closes: Bool) throws(Gone) -> (head: [UInt8], Response) {
        if let head = context.writer.head(of: response, closes: closes, isOld: isUnchunked) { return (head, response) }
        let broken = ResponseWriter.problem(.brokenResponse)
        if let head = context.writer.head(of: broken, closes: closes) { return (head, broken) }
        throw Gone()
    }

    /// Writes pieces as chunks (RFC 9112, 7.1) until the producer returns; a truncated stream gets no last chunk.
    func stream(_ produce: Response.Producer) async throws {
        phase = .streaming
        streamFailed = false
        if isDraining { task?.cancel() }
        try await produce { [self] piece in try await writeChunk(piece) }
        guard !streamFailed, !Task.isCancelled else { throw Gone() }
        if !isUnchunked { try await send([UInt8]("0\r\n\r\n".utf8)) }
    }

    private func writeChunk(_ piece: [UInt8]) async throws {
        guard phase == .streaming, !streamFailed else { throw Gone() }
        guard !piece.isEmpty else { return }  // an empty chunk would end the stream
        do {
            try Task.checkCancellation()
            if isUnchunked { return try await send(piece) }
            try await send(ResponseWriter.chunkHead(size: piece.count), piece, [0x0D, 0x0A])
        } catch {
            streamFailed = true
            throw error
        }
    }

    /// Sends a body in pieces; other tasks can run in between.
    func send(_ length: Int, _ piece: @Sendable (_ offset: Int) throws -> [UInt8]) async throws {
        var sent = 0
        while sent < length {
            let bytes = try piece(sent)
            guard !bytes.isEmpty, bytes.count <= length - sent else { throw Gone() }
            try await send(bytes)
            sent += bytes.count
            await Task.yield()
        }
    }

    /// Hands everything to the kernel, head and body in one call, within the write deadline.
    func send(
        _ head: [UInt8], _ body: [UInt8] = [], _ tail: [UInt8] = [], after start: Int = 0, held: Int = 0
    ) async throws {
        let total = head.count + body.count + tail.count
        var sent = start
        var blocked: (at: ContinuousClock.Instant, sent: Int)?
        var held = held
        defer {
            if blocked != nil { awaitsCaller(since: nil) }
            _ = hold(unsent: 0, insteadOf: held)
        }
        while sent < total {
            let count = SocketParts(head, body, tail).send(from: sent, to: descriptor)
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                guard hold(unsent: total, insteadOf: held) else { throw Gone() }
                held = total
                let (began, before) = blocked ?? (.now, sent)
                blocked = (began, before)
                awaitsCaller(since: began + .seconds(1) * (sent - before) / limits.streamedBytesPerSecond)
                guard try await wait(until: began + limits.write) else { throw Gone() }
                if phase == .streaming { try Task.checkCancellation() }
            } else if errno != EINTR {
                throw Gone()
            }
        }
    }
}
