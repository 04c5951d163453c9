internal import CCurl

/// One request on its way: the easy handle set up for it, what has come back so far, and who waits for it.
///
/// Lives on the thread that runs libcurl; the handle's callbacks reach it by an unretained pointer, so it must outlive
/// the handle's stay in a multi handle.
final class CurlExchange {
    let id: UInt64
    var handle: UnsafeMutableRawPointer { easy.handle }

    private var easy: CurlEasy
    private let request: HTTPRequest
    private let sockets: CurlSockets
    private let continuation: CheckedContinuation<CurlMailbox.Outcome, Never>
    private var response: ResponseCollector
    /// Set just before the first byte of the request: until then a failure proves that the upstream saw nothing of it.
    private(set) var hasBegun = false
    private let startedAt = ContinuousClock.now
    private var sent = 0
    /// Why we ended the exchange, if we did.
    private var refusal: String?

    init(
        _ id: UInt64, _ request: HTTPRequest, _ options: CurlOptions, _ sockets: CurlSockets,
        _ continuation: CheckedContinuation<CurlMailbox.Outcome, Never>
    ) throws(TransportError) {
        self.id = id
        self.request = request
        self.sockets = sockets
        self.continuation = continuation
        response = ResponseCollector(maximumBody: request.maximumBody)
        easy = try CurlEasy()
        try options.apply(to: &easy)
        try request.apply(to: &easy)
        try installCallbacks()
    }

    /// The exchange a handle was set up for, which must be alive.
    static func of(_ handle: UnsafeMutableRawPointer) -> CurlExchange? {
        var pointer: UnsafeMutableRawPointer?
        ccurl_get_pointer(handle, CURLINFO_PRIVATE, &pointer)
        return pointer.map(from)
    }

    /// Answers the caller; once only, after the handle has left its multi handle.
    func finish(_ code: CURLcode) {
        guard code != CURLE_OK else {
            let answer = HTTPResponse(status: easy.status, headers: response.headers, body: response.body)
            return continuation.resume(returning: .success(answer))
        }
        let failure = CurlFailure(
            code: code, explanation: easy.explanation(of: code), refusal: refusal ?? response.refusal,
            host: request.host,
            requestHasBegun: hasBegun)
        fail(failure.error)
    }

    func fail(_ error: TransportError) {
        continuation.resume(returning: .failure(error))
    }

    // MARK: When the network has changed

    /// This machine's end of its connection; nil before there is one, or where that has no address.
    var localAddress: String? { easy.localAddress }

    func refuseConnections(from earlier: ContinuousClock.Instant) throws(TransportError) {
        // libcurl counts in whole seconds.
        let age = Int((ContinuousClock.now - earlier).components.seconds)
        if age < 2 { try easy.set(CURLOPT_FRESH_CONNECT, 1) } else { try easy.set(CURLOPT_MAXLIFETIME_CONN, age - 1) }
    }

    /// Prepares for a second start, of which the deadline remains what it was.
    func startAnew(at now: ContinuousClock.Instant) throws(TransportError) {
        try easy.set(CURLOPT_FRESH_CONNECT, 1)
        try request.setDeadline(request.deadline - (now - startedAt), of: easy)
    }

    func loseNetwork(at address: String) {
        let failure = CurlFailure(
            code: CURLE_RECV_ERROR, explanation: "this machine's address \(address) can no longer be reached",
            refusal: nil, host: request.host, requestHasBegun: hasBegun)
        fail(failure.error)
    }

    // MARK: What libcurl calls

    private func installCallbacks() throws(TransportError) {
        let this = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try easy.set(CURLOPT_PRIVATE, this)
        try easy.set(CURLOPT_OPENSOCKETDATA, this)
        try easy.setSocketOpener { this, _, address in
            guard let this, let address else { return CURL_SOCKET_BAD }
            return CurlExchange.from(this).openSocket(to: address)
        }
        try easy.set(CURLOPT_PREREQDATA, this)
        try easy.setBeforeRequest { this, address, _, _, _ in
            let address = address.map { String(cString: $0) } ?? ""
            let mayGo = this.map { CurlExchange.from($0).mayBegin(to: address) } ?? false
            return mayGo ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        try sockets.install(in: easy)
        try easy.set(CURLOPT_HEADERDATA, this)
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(this).response.takeHeaderLine(line) ? line.count : 0
        }
        try easy.set(CURLOPT_WRITEDATA, this)
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(this).takeBody(part) ? part.count : 0
        }
        guard request.source != nil else { return }
        try easy.set(CURLOPT_READDATA, this)
        try easy.setReader { space, size, count, this in
            guard let this, let space else { return Int(CURL_READFUNC_ABORT) }
            return CurlExchange.from(this).fill(UnsafeMutableRawBufferPointer(start: space, count: size * count))
        }
    }

    private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let socket = sockets.open(to: address)
        refusal = socket == nil ? "the link to it is down, so see to this machine's network" : nil
        return socket ?? CURL_SOCKET_BAD
    }

    /// A failure explains itself in less.
    private static let largestFailure = 1 << 20

    private func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        let isFailure = !(200..<300).contains(easy.status)
        if isFailure, response.body.count + part.count > Self.largestFailure {
            refusal = "its body is larger than the \(Self.largestFailure) bytes allowed with status \(easy.status)"
            return false
        }
        guard let sink = request.sink, !isFailure else {
            return response.takeBody(part, announced: isFailure ? nil : easy.announcedLength)
        }
        guard sink.take(part) else {
            refusal = "its body is larger than allowed, or could not be stored"
            return false
        }
        return true
    }

    /// Gives libcurl the next bytes of the body; 0 at its end.
    private func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard let source = request.source, let bytes = source.read(sent, min(space.count, source.size - sent)) else {
            refusal = "what was to be sent can no longer be read"
            return Int(CURL_READFUNC_ABORT)
        }
        space.copyBytes(from: bytes)
        sent += bytes.count
        return bytes.count
    }

    /// libcurl sends a request again, unasked, when a kept connection dies before the answer: whatever the method, though
    /// the upstream may have applied the first. A method that is not safe goes once.
    private func mayBegin(to address: String) -> Bool {
        guard !request.isPublicOnly || NetworkAddress.isPublic(address) else {
            refusal = "it is at \(address), which only this machine or its network can reach"
            return false
        }
        defer { hasBegun = true }
        return !hasBegun || request.isSafe
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(pointer).takeUnretainedValue()
    }
}
