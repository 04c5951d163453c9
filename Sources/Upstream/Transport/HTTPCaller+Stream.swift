internal import EntitySchema

extension HTTPCaller {
    /// The longest that one connection lasts; then the stream is opened again.
    private static let longestStream = Duration.seconds(86_400)

    /// Sends a request whose answer goes on for as long as the upstream likes, into the sink.
    ///
    /// It counts as one request of the budget, over when its answer begins, or after the deadline of other requests: a stream must
    /// not take a place from them for hours, nor must one whose headers a server or a proxy holds back. Its end says nothing
    /// about the server's clock.
    func stream(
        _ call: WireRequest, token: String?, idle: Duration, into sink: BodySink
    ) async throws(UpstreamError) -> HTTPResponse {
        guard let baseURL else { throw .held(Self.missingAddress) }
        let call = try prepared(call, token)
        var request = HTTPRequest(call, base: baseURL, deadline: Self.longestStream)
        request.maximumBody = .max >> 1
        request.stall = idle
        request.isEndless = true
        request.isSentOnce = budget != nil
        let passage = try await pass()
        let patience = Task { [deadline] in
            try await Task.sleep(for: deadline)
            passage.leave()
        }
        defer {
            patience.cancel()
            passage.leave()
        }
        request.sink = BodySink { status, type in
            passage.leave()
            return sink.begin(status, type)
        } take: {
            sink.take($0)
        }
        do {
            return try await transport.send(request)
        } catch {
            throw UpstreamError(error).withoutSecrets(call.secrets)
        }
    }
}
