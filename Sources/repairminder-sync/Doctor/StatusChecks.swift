import JSONText

/// Checks the daemon's status: its state, and problems that it cannot fix by itself.
struct StatusChecks {
    /// As `GET /v1/status` answers.
    let status: JSONText
    /// The daemon's, for the commands that the findings advise.
    let configuration: Configuration

    private static let check = "daemon"

    func findings() -> [Finding] {
        var summary = self.summary()
        if let error = status["error"]?.string {
            summary = .warning(Self.check, "\(summary.message); \(error)", advice)
        }
        return [summary] + needs()
    }

    /// What to do about the error.
    private var advice: String {
        if status.at(path: "upstream.needs_sign_in")?.boolean == true {
            return "sign in again: \(configuration.loginCommand())"
        }
        if status.at(path: "upstream.refuses_account")?.boolean == true { return AccountAdvice.refused }
        return "run \(configuration.command("status"))"
    }

    /// The daemon's state.
    func summary() -> Finding {
        let state = status["state"]?.plain ?? "unknown"
        let failed = status["failed"]?.integer ?? 0
        let text = "it runs: \(state), \(status["pending"]?.plain ?? "0") pending, \(failed) failed"
        return failed == 0
            ? .ok(Self.check, text)
            : .warning(Self.check, text, "run \(configuration.command("queue --state failed"))")
    }

    /// What the daemon still needs, its warnings, and what else waits for someone.
    func needs() -> [Finding] {
        let subject = status.at(path: "upstream.needs_sign_in")?.boolean == true ? "account" : Self.check
        let missing = [status["missing"]?.string].compactMap(\.self).map {
            Finding.warning(subject, $0, "see When nothing is configured in docs/guides/operating.md")
        }
        let warnings = (status["warnings"]?.elements ?? []).map {
            Finding.warning(Self.check, $0.plain, "see docs/config.md")
        }
        return missing + warnings + entities() + hooks() + limits() + signals()
    }

    /// `doctor` reads it in the database.
    func rescue() -> [Finding] {
        guard let rescue = status["rescue"], let summary = rescue["summary"]?.string else { return [] }
        let file = rescue["set_aside"]?.string ?? "its file"
        return [
            .warning(
                "rescue", "the database was damaged and replaced: \(summary)",
                "check disk and memory; if nothing is missing, delete \(file) in state_dir")
        ]
    }

    private func entities() -> [Finding] {
        (status["entities"]?.members ?? []).compactMap { name, entity in
            if let error = entity["error"]?.string {
                return .warning("lists", "\(name): \(error)", "see docs/guides/troubleshooting.md")
            }
            return entity["held"]?.string.map {
                .warning(
                    "lists", "\(name): the last full read is not believed: \($0)",
                    "if that is right, run \(configuration.command("sync --full --delete \(name)"))")
            }
        }
    }

    private func hooks() -> [Finding] {
        let parked = status["parked_deliveries"]?.integer ?? 0
        guard parked > 0 else { return [] }
        return [
            .warning(
                "hooks", "\(parked.counted("delivery", "deliveries")) failed too often",
                "retry or discard them: see \(configuration.command("hooks"))")
        ]
    }

    private func limits() -> [Finding] {
        let waiting = status.at(path: "upstream.budget.waiting")?.integer ?? 0
        let budget =
            waiting == 0
            ? []
            : [
                Finding.warning(
                    "limits", "\(waiting.counted("request waits", "requests wait")) for the upstream's limit",
                    "nothing to do, unless it lasts: then sync less often, see sync.interval in docs/config.md")
            ]
        guard let batches = status.at(path: "upstream.batches")?.string else { return budget }
        return budget + [.warning("batches", batches, "correct batch in the schema, or remove it")]
    }

    private func signals() -> [Finding] {
        (status["signals"]?.elements ?? []).compactMap { source in
            source["error"]?.string.map {
                .warning(
                    "signals", "\(source.shown("path")): \($0)",
                    "polling finds the changes meanwhile; see docs/schema/batches-and-signals.md#signals")
            }
        }
    }
}
