internal import CCurl

/// Classifies libcurl's error codes by what is known about the request.
struct CurlFailure {
    let code: CURLcode
    /// libcurl's text.
    let explanation: String
    /// Why this side ended the exchange, if it did.
    let refusal: String?
    let host: String
    let requestHasBegun: Bool
    /// Whether the request changes nothing at the upstream.
    let isSafe: Bool

    var error: TransportError {
        guard requestHasBegun else { return unsent }
        switch code {
        case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED:
            return .unacceptable("the response of \(host) was rejected: \(refusal ?? explanation)")
        // libcurl reports headers that are too large as OUT_OF_MEMORY, and an unknown HTTP version as
        // UNSUPPORTED_PROTOCOL.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY:
            return .unacceptable("the response of \(host) cannot be read (\(reason)): check what is running there")
        case CURLE_ABORTED_BY_CALLBACK:
            return .ambiguous(ambiguousMessage("the connection was closed before a response came"))
        default:
            return .ambiguous(ambiguousMessage(reason))
        }
    }

    /// libcurl's text, but for headers and trailers that are longer than it takes: there it blames a lack of memory.
    private var reason: String {
        if explanation.hasPrefix("Out of memory in chunked-encoding") {
            return "the trailers after its last chunk have more than 4096 bytes"
        }
        return code == CURLE_OUT_OF_MEMORY
            ? "one of its header lines has more than 100 KiB, or this machine has no memory left" : explanation
    }

    private func ambiguousMessage(_ event: String) -> String {
        let advice =
            isSafe
            ? "try again; if it stays so, check what is running there"
            : "a change in this request may have been applied"
        return "no complete response from \(host) (\(event)): \(advice)"
    }

    private var unsent: TransportError {
        if let refusal { return .unreachable("nothing was sent to \(host): \(refusal)") }
        // libcurl's text might quote the URL.
        if code == CURLE_URL_MALFORMAT {
            return .unsendable("nothing was sent to \(host): the URL is invalid; correct it")
        }
        return .unreachable(unreachableMessage)
    }

    /// What the message says after the host if its certificate is the reason.
    fileprivate static let distrust = " is not trusted ("
    /// The same if nothing accepts connections there.
    fileprivate static let silence = " cannot be reached ("

    private var unreachableMessage: String {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            "\(host) was not found (\(explanation)): check the name and this machine's network"
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            "\(host)\(Self.distrust)\(explanation)): check its certificate, and this machine's CA certificates and clock"
        case CURLE_COULDNT_CONNECT:
            "\(host)\(Self.silence)\(explanation)): check that it runs and that this machine may connect to it"
        default:
            "no connection to \(host) (\(explanation)): check what is running there and that this machine may connect to it"
        }
    }
}

extension TransportError {
    /// Whether the certificate of the server is the reason.
    package var isDistrust: Bool {
        if case .unreachable(let message) = self { message.contains(CurlFailure.distrust) } else { false }
    }

    /// Whether the reason is that nothing accepts connections at the address.
    package var isSilence: Bool {
        if case .unreachable(let message) = self { message.contains(CurlFailure.silence) } else { false }
    }
}
