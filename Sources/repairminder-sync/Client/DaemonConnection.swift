import CallerLookup
import JSONText
import LocalAPI
import Upstream

/// The daemon's address and the token to send.
struct DaemonConnection: Equatable {
    enum Place: Equatable {
        case unix(String)
        /// A URL without a path.
        case tcp(String)
    }

    var place: Place
    var token: String?
    /// Decides who may be the daemon.
    var listeners = ListenerGuard()

    /// In bytes. The daemon ends its pages at 4 MiB; root, who may be the caller, must not give a compromised one more memory.
    static let largestAnswer = 64 << 20

    /// `deadline` limits each call as a whole, and `largest` its answer.
    func client(
        deadline: Duration = .seconds(60), largest: Int = Self.largestAnswer
    ) throws(CommandFailure) -> LocalAPIClient {
        let transport: CurlTransport
        do throws(TransportError) {
            transport = try CurlTransport(userAgent: "repairminder-sync", unixSocketPath: socket, refusal: refusal)
        } catch {
            guard case .unreachable(let message) = error else {
                throw CommandFailure(.internalError, "cannot create an HTTP client: \(error)")
            }
            throw CommandFailure(.temporaryFailure, "cannot create an HTTP client: \(message)")
        }
        // Lives as long as this process: its end would wait for libcurl's thread, which may hang.
        _ = Unmanaged.passRetained(transport)
        let punctual = PunctualTransport(transport: transport)
        return LocalAPIClient(token: token) { (request) throws(LocalAPIError) in
            // On one machine, compressing an answer takes longer than moving it.
            let plain = HTTPHeader("Accept-Encoding", "identity")
            let sent = HTTPRequest(
                method: request.method, url: baseURL + request.target,
                headers: request.headers.map { HTTPHeader($0.name, $0.value) } + [plain],
                body: request.body, deadline: deadline, maximumBody: largest)
            do throws(TransportError) {
                let response = try await punctual.send(sent)
                var answer = LocalAPIResponse(
                    status: response.status, body: response.body, location: response.header("Location"),
                    tag: response.header("ETag"))
                answer.isReplayed = response.header("Idempotent-Replayed") == "true"
                return answer
            } catch {
                throw failure(error)
            }
        }
    }

    /// Nil where a certificate says whose server it is.
    private var refusal: (@Sendable (Int32) -> String?)? {
        if baseURL.hasPrefix("https://") { return nil }
        let lookup = CallerLookup()
        return { [listeners, socket] in listeners.refusal(of: $0, at: socket, lookup) }
    }

    private var socket: String? { if case .unix(let path) = place { path } else { nil } }

    private var baseURL: String {
        switch place {
        case .unix: "http://localhost"
        case .tcp(let url): url
        }
    }

    fileprivate static let question = "is it running? If it listens elsewhere, add --socket PATH or --address HOST:PORT"

    private func failure(_ error: TransportError) -> LocalAPIError {
        let address = socket ?? baseURL
        switch error {
        // libcurl's text names a host and a port even for a Unix socket.
        case .unreachable where error.isSilence:
            return .unreachable("the daemon cannot be reached at \(address); \(Self.question)")
        case .unsendable(let message), .unreachable(let message):
            return .unreachable("the daemon cannot be reached at \(address) (\(message)); \(Self.question)")
        case .ambiguous(let message), .dropped(let message):
            return .unreachable(
                "the response from the daemon at \(address) was cut off (\(message)); a change may have been made")
        case .unacceptable(let message): return .unexpected("\(address) sent an invalid response: \(message)")
        case .cancelled: return .unreachable("cancelled before \(address) responded")
        }
    }
}

extension CommandFailure {
    /// The message without the advice to give another address, for where the daemon has just answered, or has no such flags.
    var brief: String { message.replacing("; \(DaemonConnection.question)", with: "") }
}
