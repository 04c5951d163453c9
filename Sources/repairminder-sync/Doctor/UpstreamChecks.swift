import EntitySchema
import Foundation
import Glibc
import Upstream

/// Checks the upstream: reachability, encryption, clock and token.
///
/// Sends the token but never refreshes it: only the daemon does. Signs in with stored credentials if it must, and keeps
/// nothing of it.
struct UpstreamChecks {
    let configuration: Configuration
    let schema: EntitySchema
    let finder: SchemaFinder
    let now: @Sendable () -> Timestamp
    /// PEM certificates to trust instead of the system's.
    var caFile: String?
    /// Sends the requests; nil for libcurl.
    var transport: (any HTTPTransport)?

    /// Without the token, only what the upstream shows to anyone.
    func findings(withToken: Bool) async -> [Finding] {
        guard let address else { return [Self.addressMissing(.warning)] }
        do throws(ConfigurationError) {
            try configuration.requireEncryption(for: schema)
        } catch {
            return [.error("tls", error.problem, "set upstream.base_url to an https URL")]
        }
        guard let transport = try? makeTransport() else {
            return [.error("upstream", "libcurl fails to start", "reinstall libcurl4")]
        }
        if let name = unknownName(in: address) { return [name] }
        let request = HTTPRequest(url: address + schema.upstream.probe, deadline: .seconds(10))
        do throws(TransportError) {
            let response = try await transport.send(request)
            let all = [reachable(response, address), encryption(address), Self.clock(response, now())]
            let seen = all.compactMap(\.self)
            guard withToken else { return seen }
            // One sign-in for all that follows.
            let token = token(over: transport)
            return seen + [await account(transport, token)] + (await lists(transport, token))
        } catch {
            return [unreachable(error, address)]
        }
    }

    private var address: String? { configuration.address(with: schema) }

    private static func addressMissing(_ level: Finding.Level) -> Finding {
        Finding(
            check: "upstream", level: level, message: "its address is not set",
            advice: "set upstream.base_url in the configuration or the schema")
    }

    private func makeTransport() throws -> any HTTPTransport {
        if let transport { return transport }
        return try CurlTransport(userAgent: ProgramVersion.userAgent, caFile: caFile)
    }

    /// Nil when the host of the address has an IP address.
    private func unknownName(in address: String) -> Finding? {
        guard let host = URL(string: address)?.host else { return nil }
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host.trimmingCharacters(in: ["[", "]"]), nil, nil, &list)
        guard code != 0 else {
            freeaddrinfo(list)
            return nil
        }
        return .error(
            "dns", "\(host) has no address: \(String(cString: gai_strerror(code)))",
            "check upstream.base_url, and this machine's name servers with getent hosts \(host)")
    }

    func unreachable(_ error: TransportError, _ address: String) -> Finding {
        if error.isDistrust { return distrusted(error.reason, address) }
        return .error("upstream", error.reason, "check upstream.base_url, the network and DNS")
    }

    /// An upstream whose certificate is expired, for another name, or of an authority that this machine does not know.
    private func distrusted(_ reason: String, _ address: String) -> Finding {
        let url = URL(string: address)
        let server = "\(url?.host ?? ""):\(url?.port ?? 443)"
        return .error(
            "tls", reason,
            "see its dates and names with openssl s_client -connect \(server) </dev/null | openssl x509 -noout -dates "
                + "-ext subjectAltName; for an authority of your own, copy its certificate to "
                + "/usr/local/share/ca-certificates and run sudo update-ca-certificates")
    }

    private static let waiting = "wait; the queue is kept meanwhile"

    private func reachable(_ response: HTTPResponse, _ address: String) -> Finding {
        guard response.status < 500 else {
            return .warning("upstream", "\(address) returned status \(response.status)", Self.waiting)
        }
        return .ok("upstream", "\(address) is reachable")
    }

    /// Nil for plain HTTP, which is reported with the configuration.
    func encryption(_ address: String) -> Finding? {
        if address.hasPrefix("https://") { return .ok("tls", "the certificate is valid") }
        return PlainHTTP.leavesMachine(address) ? nil : .ok("tls", "none; the upstream is on this machine")
    }

    static func clock(_ response: HTTPResponse, _ now: Timestamp) -> Finding {
        guard let date = response.header("Date").flatMap({ Timestamp(httpDate: $0) }) else {
            return .warning(
                "clock", "the upstream sends no Date header", "nothing to do; this machine's clock is used instead")
        }
        return clock(ahead: Int(date.since(now).components.seconds))
    }

    /// `seconds`: how far the upstream's clock is ahead of this machine's.
    static func clock(ahead seconds: Int) -> Finding {
        guard abs(seconds) <= 60 else {
            return .warning(
                "clock", "the upstream's clock is \(seconds) s ahead of this machine's",
                "check this machine's clock (timedatectl); the daemon compensates for the difference")
        }
        return .ok("clock", "within \(abs(seconds) + 1) s of the upstream's")
    }

    /// Keeps to the schema's limits, apart from what the daemon sends at the same time.
    private var budget: RequestBudget? {
        let start = ContinuousClock.now
        return schema.upstream.limits.map { limits in
            RequestBudget(
                limits: limits, monotonic: { start.duration(to: .now) },
                sleep: { try await Task.sleep(for: $0) })
        }
    }

    private func upstream(_ transport: any HTTPTransport, _ token: (any Credentials)?) -> HTTPUpstream {
        HTTPUpstream(
            configuration.access(to: schema.upstream, over: transport, budget: budget, now: now), token: token,
            deadline: .seconds(10), contents: ContentOrigins(allowsPlainHTTP: configuration.upstream.allowPlainHTTP),
            elsewhere: { [finder, schema, configuration] in
                finder.lists(besides: schema, for: configuration)
            })
    }

    /// Compares what the upstream serves with the schema: one finding for each list and record, and for each difference.
    func probed() async throws -> [Finding] {
        guard address != nil else { return [Self.addressMissing(.error)] }
        let transport = try makeTransport()
        return await probe(over: transport, token(over: transport)).findings()
    }

    private func probe(over transport: any HTTPTransport, _ token: (any Credentials)?) -> UpstreamProbe {
        let watched = WatchedTransport(transport, ignoring: schema.upstream.check?.path)
        return UpstreamProbe(
            schema: schema, upstream: upstream(watched, token), transport: watched, now: now())
    }

    /// Whether the upstream answers as the schema expects; only what is amiss, if anything is.
    private func lists(_ transport: any HTTPTransport, _ token: (any Credentials)?) async -> [Finding] {
        let found = await probe(over: transport, token).findings()
        // Said by `account` already, and then no list was read.
        if schema.upstream.account != nil, let first = found.first, first.check == "account", first.level == .error {
            return []
        }
        let amiss = found.filter { $0.level != .ok }
        return amiss.isEmpty ? [.ok("lists", "the upstream answers as \(schema.name) expects")] : amiss
    }

    private func account(_ transport: any HTTPTransport, _ token: (any Credentials)?) async -> Finding {
        let check = "account"
        guard schema.upstream.account != nil else { return .ok(check, "the upstream has no accounts") }
        do {
            return .ok(check, try await upstream(transport, token).account()?.id ?? "none")
        } catch .unauthorized(let message) where canRefresh {
            return .warning(
                check, "the upstream rejected the token, which has expired: \(message)",
                "a running daemon gets a new one at its next request; if it does not, run "
                    + configuration.loginCommand())
        } catch .barred(_, let message, _) {
            return .error(check, "cannot read the account: \(message)", AccountAdvice.refused)
        } catch .unclear(.some(500...), let message), .throttled(_, let message) {
            return .warning(check, "cannot read the account: \(message)", Self.waiting)
        } catch {
            let canSignIn = configuration.upstream.tokenFile == nil && !schema.upstream.login.isEmpty
            return .error(
                check, "cannot read the account: \(error.message)",
                "check the token and upstream.base_url"
                    + (canSignIn ? ", or run \(configuration.loginCommand())" : ""))
        }
    }

    /// Whether the daemon will replace the stored token, which has expired.
    private var canRefresh: Bool {
        guard configuration.upstream.tokenFile == nil,
            let stored = try? configuration.tokenStore.load(), stored.refresh != nil
        else { return false }
        return stored.expiresAt.map { $0 < now() } ?? false
    }

    private func token(over transport: any HTTPTransport) -> (any Credentials)? {
        if let path = configuration.upstream.tokenFile {
            return (try? FileToken(path: path, for: schema.upstream.tokenPlace))?.current().map(StaticToken.init)
        }
        let stored = try? configuration.tokenStore.load()
        let session = ProbeSession(
            configuration.access(to: schema.upstream, over: transport, now: now), stored: stored)
        return session ?? stored.map { StaticToken(token: $0.access) }
    }

    /// A token that is never refreshed.
    private struct StaticToken: Credentials {
        let token: String

        func current() -> String? { token }

        func renew(refused: String?) -> Bool { false }
    }
}
