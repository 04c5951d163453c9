import EntitySchema
import JSONText
import Upstream

/// The checks of an upstream that a running daemon calls anyway: nothing is sent.
extension UpstreamChecks {
    /// `status` is as `GET /v1/status` answers.
    func findings(in status: JSONText) -> [Finding] {
        guard let address = configuration.address(with: schema), status["missing"]?.string == nil
        else { return [] }
        let error = status["error"]?.string
        guard status.at(path: "upstream.reachable")?.boolean != false else {
            return [unreachable(.unreachable(error ?? "no answer came"), address)]
        }
        guard let offset = status.at(path: "upstream.clock_offset_ms")?.integer else {
            // No answer has come yet.
            return error == nil ? [] : [reached(address, error, status)]
        }
        return [reached(address, error, status), Self.clock(ahead: offset / 1000)]
            + [encryption(address)].compactMap(\.self) + account(status) + drift(status)
    }

    private func reached(_ address: String, _ error: String?, _ status: JSONText) -> Finding {
        guard let error else { return .ok("upstream", "\(address) is reachable") }
        guard status.at(path: "upstream.needs_sign_in")?.boolean != true else {
            return .error(
                "account", "the upstream refuses the token: \(error)", "sign in again: \(configuration.loginCommand())")
        }
        guard status.at(path: "upstream.refuses_account")?.boolean != true else {
            return .error("account", error, AccountAdvice.refused)
        }
        return .warning(
            "upstream", error, "do what it says, or wait for the upstream; see docs/guides/troubleshooting.md")
    }

    private func account(_ status: JSONText) -> [Finding] {
        status.at(path: "upstream.account")?.string.map { [.ok("account", $0)] } ?? []
    }

    /// Whether the upstream's records are as the schema says.
    private func drift(_ status: JSONText) -> [Finding] {
        let (drift, aside) = (status["drift"]?.integer ?? 0, status["set_aside"]?.integer ?? 0)
        // What answers at the address need not be the daemon.
        let (sum, isTooMany) = drift.addingReportingOverflow(aside)
        let count = isTooMany ? .max : sum
        guard count > 0 else { return [.ok("schema", "the upstream's records are as \(schema.name) says")] }
        return [
            .warning(
                "schema",
                "\(count.counted("difference", "differences")) between \(schema.name) and the upstream's records",
                "see \(configuration.command("drift"))")
        ]
    }
}
