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
    private let continuation: CheckedContinuation<CurlMailbox.Outcome, Never>
    private var response: ResponseCollector
    /// Set just before the first byte of the request: until then a failure proves that the upstream saw nothing of it.
    private var hasBegun = false

    init(
        _ id: UInt64, _ request: HTTPRequest, _ options: CurlOptions,
        _ continuation: CheckedContinuation<CurlMailbox.Outcome, Never>
    ) throws(TransportError) {
        self.id = id
        self.request = request
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
            code: code, explanation: easy.explanation(of: code), refusal: response.refusal, host: request.host,
            requestHasBegun: hasBegun)
        fail(failure.error)
    }

    func fail(_ error: TransportError) {
        continuation.resume(returning: .failure(error))
    }

    private func installCallbacks() throws(TransportError) {
        let this = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        try easy.set(CURLOPT_PRIVATE, this)
        try easy.set(CURLOPT_PREREQDATA, this)
        try easy.setBeforeRequest { this, _, _, _, _ in
            let mayGo = this.map { CurlExchange.from($0).mayBegin() } ?? false
            return mayGo ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        try easy.set(CURLOPT_HEADERDATA, this)
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(this).response.takeHeaderLine(line) ? line.count : 0
        }
        try easy.set(CURLOPT_WRITEDATA, this)
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
            guard let this else { return 0 }
            let exchange = CurlExchange.from(this)
            let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return exchange.response.takeBody(part, announced: exchange.easy.announcedLength) ? part.count : 0
        }
    }

    /// libcurl sends a request again, unasked, when a kept connection dies before the answer: whatever the method, though
    /// the upstream may have applied the first. A method that is not safe goes once.
    private func mayBegin() -> Bool {
        defer { hasBegun = true }
        return !hasBegun || request.isSafe
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(pointer).takeUnretainedValue()
    }
}
