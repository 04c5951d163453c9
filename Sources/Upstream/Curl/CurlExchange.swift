internal import CCurl
internal import Glibc

/// One request in flight: its easy handle, the response so far, and the waiting caller.
///
/// Lives on the thread that runs libcurl. The handle's callbacks use an unretained pointer to it, so it must live as
/// long as the handle is in a multi handle.
final class CurlExchange {
    let id: UInt64
    var handle: UnsafeMutableRawPointer { easy.handle }

    private var easy: CurlEasy
    private let request: HTTPRequest
    private let sockets: CurlSockets
    private let continuation: CheckedContinuation<CurlMailbox.Outcome, Never>
    /// Asks for the memory that a large answer needs; nil if there is none until `goOn`. Set before the handle is used.
    var admit: (_ bytes: Int) -> AnswerShare? = { _ in nil }
    private var share: AnswerShare?
    private var response: ResponseCollector
    /// Set just before the first byte of the request. Until then, a failure proves that the upstream saw nothing of it.
    private(set) var hasBegun = false
    /// The kept connection ended without a response, and nothing was sent again.
    private var isDropped = false
    private let startedAt = ContinuousClock.now
    private var sent = 0
    /// The bytes of the body so far, decoded.
    private var taken = 0
    /// Nil until the request begins, and over a Unix socket.
    private var meter: WireMeter?
    /// Much more came than the body.
    private var isFlooded = false
    /// Why this side ended the exchange, if it did.
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

    /// The exchange of a handle; it must be alive.
    static func of(_ handle: UnsafeMutableRawPointer) -> CurlExchange? {
        var pointer: UnsafeMutableRawPointer?
        ccurl_get_pointer(handle, CURLINFO_PRIVATE, &pointer)
        return pointer.map(from)
    }

    /// Resumes the caller; only once, after the handle has left its multi handle.
    func finish(_ ended: CURLcode) {
        // libcurl goes on after a refusal of bytes that it had kept while the exchange was paused.
        let isRefused = (refusal ?? response.refusal) != nil
        let code = isFlooded || ended == CURLE_OK && isRefused ? CURLE_WRITE_ERROR : ended
        guard code != CURLE_OK else {
            if lacksContent { return fail(.ambiguous(Self.early(request.host))) }
            share?.shrink(to: response.body.count)
            var answer = HTTPResponse(status: easy.status, headers: response.headers, body: response.body)
            answer.share = share
            answer.isEndCertain = isEndCertain(of: answer)
            return continuation.resume(returning: .success(answer))
        }
        if isDropped, request.isSafe { return fail(.dropped(Self.dropped(request.host))) }
        let failure = CurlFailure(
            code: code, explanation: easy.explanation(of: code),
            refusal: refusal ?? response.refusal ?? (code == CURLE_FILESIZE_EXCEEDED ? response.oversized : nil),
            host: request.host, requestHasBegun: hasBegun, isSafe: request.isSafe)
        fail(failure.error)
    }

    /// Whether the server accepted the content before it had all of it. libcurl stops sending when the connection ends.
    private var lacksContent: Bool {
        guard let source = request.source, (200..<300).contains(easy.status) else { return false }
        return sent < source.size
    }

    private static func dropped(_ host: String) -> String {
        "the connection kept to \(host) ended before a response came; the request changes nothing, so it can be repeated"
    }

    private static func early(_ host: String) -> String {
        "\(host) answered before all of the content was sent, so it cannot have it; the content is sent again"
    }

    /// libcurl takes a compressed body for whole wherever it ends, so nothing is certain once a byte of one came.
    private func isEndCertain(of answer: HTTPResponse) -> Bool {
        answer.hasEnd && (!answer.isCompressed || easy.receivedLength == 0)
    }

    func fail(_ error: TransportError) {
        continuation.resume(returning: .failure(error))
    }

    // MARK: After a network change

    /// This machine's address on its connection; nil before there is a connection, or when it has no address.
    var localAddress: String? { easy.localAddress }

    /// Never reuses a connection that is older than `earlier`.
    func refuseConnections(from earlier: ContinuousClock.Instant) throws(TransportError) {
        // libcurl counts in whole seconds.
        let age = Int((ContinuousClock.now - earlier).components.seconds)
        if age < 2 { try easy.set(CURLOPT_FRESH_CONNECT, 1) } else { try easy.set(CURLOPT_MAXLIFETIME_CONN, age - 1) }
    }

    /// Prepares for a restart with the original deadline.
    func restart(at now: ContinuousClock.Instant) throws(TransportError) {
        try easy.set(CURLOPT_FRESH_CONNECT, 1)
        try request.setDeadline(request.deadline - (now - startedAt), of: easy)
    }

    func loseNetwork(at address: String) {
        let failure = CurlFailure(
            code: CURLE_RECV_ERROR, explanation: "this machine's address \(address) can no longer be reached",
            refusal: nil, host: request.host, requestHasBegun: hasBegun, isSafe: request.isSafe)
        fail(failure.error)
    }

    // MARK: Callbacks of libcurl

    private func installCallbacks() throws(TransportError) {
        let this = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try easy.set(CURLOPT_PRIVATE, this)
        try easy.set(CURLOPT_OPENSOCKETDATA, this)
        try easy.setSocketOpener { this, _, address in
            guard let this, let address else { return CURL_SOCKET_BAD }
            return CurlExchange.from(this).openSocket(to: address)
        }
        try easy.set(CURLOPT_PREREQDATA, this)
        try easy.setBeforeRequest { this, remote, local, remotePort, localPort in
            let to = CurlSockets.End(address: remote.map { String(cString: $0) } ?? "", port: Int(remotePort))
            let from = CurlSockets.End(address: local.map { String(cString: $0) } ?? "", port: Int(localPort))
            let mayGo = this.map { CurlExchange.from($0).mayBegin(from: from, to: to) } ?? false
            return mayGo ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        try easy.set(CURLOPT_XFERINFODATA, this)
        try easy.setProgress { this, _, _, _, _ in
            // Any value but 0 ends the exchange.
            this.map { CurlExchange.from($0).isWithinWire() } ?? false ? 0 : 1
        }
        try sockets.install(in: easy)
        try installTransfer(this)
    }

    /// What takes the response, and gives the content to send.
    private func installTransfer(_ this: UnsafeRawPointer) throws(TransportError) {
        try easy.set(CURLOPT_HEADERDATA, this)
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(this).takeHeader(line) ? line.count : 0
        }
        try easy.set(CURLOPT_WRITEDATA, this)
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let exchange = CurlExchange.from(this)
            guard exchange.hasRoom(for: part.count) else { return Int(CURL_WRITEFUNC_PAUSE) }
            return exchange.takeBody(part) ? part.count : 0
        }
        guard request.source != nil else { return }
        try easy.set(CURLOPT_READDATA, this)
        try easy.setReader { space, size, count, this in
            guard let this, let space else { return Int(CURL_READFUNC_ABORT) }
            return CurlExchange.from(this).fill(UnsafeMutableRawBufferPointer(start: space, count: size * count))
        }
    }

    private func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if let reason = placeRefusal(address) {
            refusal = reason
            return CURL_SOCKET_BAD
        }
        switch sockets.open(to: address) {
        case .socket(let socket):
            refusal = nil
            return socket
        case .refused(let reason):
            refusal = reason
            return CURL_SOCKET_BAD
        }
    }

    /// Why no connection may be opened to this place; nil when one may.
    private func placeRefusal(_ address: UnsafeMutablePointer<curl_sockaddr>) -> String? {
        guard request.isPublicOnly, let offset = MemoryLayout.offset(of: \curl_sockaddr.addr) else { return nil }
        let text = LocalAddresses.text(of: UnsafeRawPointer(address) + offset) ?? ""
        return isInReach(text) ? nil : Self.localPlace(text)
    }

    private func isInReach(_ address: String) -> Bool {
        !request.isPublicOnly || request.mayReachThisMachine && NetworkAddress.isLoopback(address)
            || NetworkAddress.isPublic(address)
    }

    private static func localPlace(_ address: String) -> String {
        "it is at \(address), which only this machine or its network can reach"
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        let hadHead = response.hasHead
        guard response.takeHeaderLine(line) else { return false }
        let isNew = response.hasHead && !hadHead
        guard isNew else { return true }
        let head = HTTPResponse(status: easy.status, headers: response.headers)
        let sink = (200..<300).contains(easy.status) ? request.sink : nil
        refusal = HeadObjection.text(to: head, of: request, isKept: sink != nil)
        if refusal == nil, let sink { refusal = sink.begin(head.status, head.mediaType) }
        return refusal == nil
    }

    // MARK: Memory for large answers

    /// Whether `count` more bytes of the body may be taken; if not, libcurl keeps them, and reads on after `goOn`.
    ///
    /// The memory for the whole answer is taken at once: exchanges that each had a part of it would wait for each other.
    private func hasRoom(for count: Int) -> Bool {
        guard request.sink == nil, share == nil, response.body.count + count > AnswerQueue.uncounted else {
            return true
        }
        let isEncoded = response.headers.contains { HTTPSyntax.isSameName($0.name, "Content-Encoding") }
        let announced = isEncoded ? nil : easy.announcedLength
        share = admit(min(announced ?? request.maximumBody, request.maximumBody))
        return share != nil
    }

    /// Takes the rest of an answer that waited for memory.
    func goOn(with share: AnswerShare) {
        self.share = share
        curl_easy_pause(handle, CURLPAUSE_CONT)
    }

    /// Whether the connection has received no more beside the body than it may.
    private func isWithinWire() -> Bool {
        guard !isFlooded else { return false }
        isFlooded = meter?.isExceeded(body: taken) ?? false
        if isFlooded { refusal = Self.flood }
        return !isFlooded
    }

    private static let flood = """
        far more came than its headers and its body, such as extensions of chunks; check the server, and the proxy in front of it
        """

    /// An error response needs less than this.
    private static let largestFailure = 1 << 20

    private func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        guard refusal == nil, response.refusal == nil else { return false }
        taken += part.count
        let isFailure = !(200..<300).contains(easy.status)
        if isFailure, response.body.count + part.count > Self.largestFailure {
            refusal = "its body is larger than the \(Self.largestFailure) bytes allowed with status \(easy.status)"
            return false
        }
        guard let sink = request.sink, !isFailure else {
            return response.takeBody(part, announced: isFailure ? nil : easy.announcedLength)
        }
        guard sink.take(part) else {
            refusal = "its body is larger than allowed, came too slowly, or could not be stored"
            return false
        }
        return true
    }

    /// Gives libcurl the next bytes of the body; 0 at its end.
    private func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard let source = request.source, let bytes = source.read(sent, min(space.count, source.size - sent)) else {
            refusal = "the content to send can no longer be read"
            return Int(CURL_READFUNC_ABORT)
        }
        space.copyBytes(from: bytes)
        sent += bytes.count
        return bytes.count
    }

    /// libcurl resends a request by itself, whatever its method, when a reused connection dies before the response,
    /// although the upstream may have applied the first one. Here a method that is not safe is sent only once, and so is
    /// one that is counted.
    private func mayBegin(from local: CurlSockets.End, to remote: CurlSockets.End) -> Bool {
        guard isInReach(remote.address) else {
            refusal = Self.localPlace(remote.address)
            return false
        }
        if let reason = sockets.refusalOfServers() {
            refusal = reason
            return false
        }
        meter = sockets.use(from: local, to: remote, by: id).flatMap { WireMeter($0) }
        defer { hasBegun = true }
        isDropped = hasBegun && (request.isSentOnce || !request.isSafe)
        return !isDropped
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(pointer).takeUnretainedValue()
    }
}
