internal import CCurl

/// Sorts libcurl's error codes by what is known about the request.
struct CurlFailure {
    let code: CURLcode
    /// libcurl's words.
    let explanation: String
    /// Why we ended the exchange, if we did.
    let refusal: String?
    let host: String
    let requestHasBegun: Bool

    var error: TransportError {
        guard requestHasBegun else { return .unreachable(unreachableMessage) }
        switch code {
        case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED:
            return .unacceptable("the answer of \(host) was refused: \(refusal ?? explanation)")
        // OUT_OF_MEMORY is how libcurl speaks of headers too large for it, UNSUPPORTED_PROTOCOL of an unknown HTTP version.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY:
            return .unacceptable("the answer of \(host) cannot be read (\(explanation)): check what serves there")
        case CURLE_ABORTED_BY_CALLBACK:
            return .ambiguous(ambiguousMessage("the connection was closed before an answer came"))
        default:
            return .ambiguous(ambiguousMessage(explanation))
        }
    }

    private func ambiguousMessage(_ event: String) -> String {
        "no complete answer from \(host) (\(event)): a change in this request may have been applied, so look before repeating it"
    }

    private var unreachableMessage: String {
        if let refusal { return "nothing was sent to \(host): \(refusal)" }
        return switch code {
        case CURLE_URL_MALFORMAT:
            // libcurl's words might quote the URL.
            "nothing was sent to \(host): the URL cannot be read, so correct it"
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            "\(host) was not found (\(explanation)): check the name and this machine's network"
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            "\(host) is not trusted (\(explanation)): check its certificate, and this machine's CA certificates and clock"
        default:
            "\(host) cannot be reached (\(explanation)): check that it runs and that this machine may connect to it"
        }
    }
}
