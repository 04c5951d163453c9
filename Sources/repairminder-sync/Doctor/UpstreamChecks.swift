import EntitySchema
import Upstream

/// The upstream from here: whether it can be reached, over what, what time it has, and whether it takes our token.
///
/// Tokens are only shown, never exchanged: that is the daemon's to do.
struct UpstreamChecks {
    let configuration: Configuration
    let schema: EntitySchema
    let now: @Sendable () -> Timestamp

    func findings() async -> [Finding] {
        guard let address = configuration.upstream.baseURL ?? schema.upstream.baseURL else {
            return [
                .warning("upstream", "nobody has said where it is", "set upstream.base_url in the configuration")
            ]
        }
        guard let transport = try? CurlTransport(userAgent: "repairminder-sync/\(ProgramVersion.text)") else {
            return [.error("upstream", "libcurl does not start", "install libcurl4 again")]
        }
        let request = HTTPRequest(url: address + schema.upstream.probe, deadline: .seconds(10))
        do throws(TransportError) {
            let response = try await transport.send(request)
            return [
                reachable(response, address), encryption(address), clock(response), await account(transport),
            ]
        } catch {
            return [unreachable(error, address)]
        }
    }

    private func unreachable(_ error: TransportError, _ address: String) -> Finding {
        let reason =
            switch error {
            case .unreachable(let text), .ambiguous(let text), .unacceptable(let text): text
            case .cancelled: "cancelled"
            }
        return .error(
            "upstream", "\(address) cannot be reached: \(reason)",
            "check upstream.base_url, network, name server and, where it speaks of a certificate, the machine's time")
    }

    private func reachable(_ response: HTTPResponse, _ address: String) -> Finding {
        guard response.status < 500 else {
            return .warning("upstream", "\(address) answers \(response.status)", "wait; the queue is kept meanwhile")
        }
        return .ok("upstream", "\(address) answers")
    }

    private func encryption(_ address: String) -> Finding {
        if address.hasPrefix("https://") { return .ok("tls", "the certificate is good") }
        let isHere = ["http://127.", "http://localhost", "http://[::1]"].contains(where: address.hasPrefix)
        return isHere
            ? .ok("tls", "none; the upstream is on this machine")
            : .warning(
                "tls", "token and data go unencrypted to \(address)", "set upstream.base_url to an https address")
    }

    private func clock(_ response: HTTPResponse) -> Finding {
        guard let date = response.header("Date").flatMap({ Timestamp(httpDate: $0) }) else {
            return .warning("clock", "the upstream tells no time", "nothing; times of this machine are taken instead")
        }
        let seconds = date.since(now()).components.seconds
        guard abs(seconds) <= 60 else {
            return .warning(
                "clock", "the upstream's clock is \(seconds) s ahead of this machine's",
                "look after this machine's time (timedatectl); the daemon reckons with the difference")
        }
        return .ok("clock", "within \(abs(seconds) + 1) s of the upstream's")
    }

    private func account(_ transport: CurlTransport) async -> Finding {
        let check = "account"
        guard schema.upstream.account != nil else { return .ok(check, "the upstream has no accounts") }
        let token = shownToken()
        let upstream = HTTPUpstream(
            plan: schema.upstream, baseURL: configuration.upstream.baseURL, transport: transport, token: token,
            deadline: .seconds(10), now: now)
        do {
            return .ok(check, "the records are those of \(try await upstream.account() ?? "nobody")")
        } catch .unauthorized(let message) where token != nil && configuration.upstream.tokenFile == nil {
            return .warning(
                check, "the token is refused: \(message)",
                "nothing if the daemon was stopped for long, it exchanges the token; else run repairminder-sync login")
        } catch {
            return .error(
                check, "the upstream tells no account: \(error.message)",
                "check token and upstream.base_url, or run repairminder-sync login")
        }
    }

    private func shownToken() -> ShownToken? {
        if let path = configuration.upstream.tokenFile {
            return (try? BearerToken(path: path))?.current().map(ShownToken.init)
        }
        return (try? TokenStore(path: configuration.signInFile).load())?.map { ShownToken(token: $0.access) } ?? nil
    }

    private struct ShownToken: Credentials {
        let token: String

        func current() -> String? { token }

        func renew(refused: String?) -> Bool { false }
    }
}
