import EntitySchema
import JSONText
import Upstream

/// Reads from the upstream as the schema says, and reports what came, what is not as expected, and what would be better.
///
/// Only reads: the account, up to three pages of each list and one of its deletions, and one record of each with what comes
/// with it. The order of the findings is that of the schema.
struct UpstreamProbe {
    let schema: EntitySchema
    let upstream: HTTPUpstream
    /// That of `upstream`.
    let transport: WatchedTransport
    let now: Timestamp

    /// How far it looks back in a list that is asked for by time.
    static let span = Duration.seconds(30 * 86_400)

    func findings() async -> [Finding] {
        var findings = [await account()].compactMap(\.self)
        if findings.contains(where: { $0.level == .error }) { return findings }
        for entity in schema.entities {
            guard let pull = entity.pull else { continue }
            let report = await ListProbe(
                entity: entity, pull: pull, upstream: upstream, transport: transport, now: now
            ).report()
            if let refused = refusedAccount(report) { return findings + [refused] }
            findings += report.findings
            // Each further list would fail in the same way, after as long a wait.
            if report.concernsAll { break }
            findings += await others(entity, report.records)
            if let report = await changes(of: entity, pull) {
                findings += report.findings
                if report.concernsAll { break }
            }
            if let list = entity.tombstones {
                let report = await TombstoneProbe(
                    entity: entity, list: list, upstream: upstream, transport: transport, now: now
                ).report()
                findings += report.findings
                if report.concernsAll { break }
            }
        }
        return findings
    }

    /// An answer with one of the codes in `account_errors`. Every list would be refused alike, and none has to be corrected.
    private func refusedAccount(_ report: ProbeReport) -> Finding? {
        guard report.isBarred, let answer = transport.lastBody, schema.upstream.answers.concernsAccount(answer)
        else { return nil }
        let message = report.findings.map(\.message).joined(separator: "; ")
        return .error("account", "the upstream refuses this account: \(message)", AccountAdvice.refused)
    }

    /// The list of what changed, if it is another one. With tokens, the list of everything says how it is asked for.
    private func changes(of entity: Entity, _ pull: PullPlan) async -> ProbeReport? {
        guard pull.changes != nil, pull.deltaToken == nil else { return nil }
        let since = pull.isSince ? (now - Self.span).description : nil
        return await ListProbe(
            entity: entity, pull: pull.ofChanges, key: "pull.changes", since: since, upstream: upstream,
            transport: transport, now: now
        ).report()
    }

    private func others(_ entity: Entity, _ records: [JSONText]) async -> [Finding] {
        guard let first = records.first else { return [] }
        let single = RecordProbe(
            entity: entity, upstream: upstream, transport: transport, needsTag: schema.upstream.version == .etag)
        let details = DetailProbe(
            schema: schema, entity: entity, records: records, upstream: upstream, transport: transport)
        // What is wrong with reading it is said of the record itself.
        let isRead = entity.pull?.details.contains(where: \.isInSingle) == true
        let shown = isRead ? (try? await upstream.record(of: entity, known: first)?.record) : nil
        return FieldProbe(entity: entity, records: records, single: shown).findings()
            + (await single.findings(like: first)) + (await details.findings())
    }

    private func account() async -> Finding? {
        guard let account = schema.upstream.account else { return nil }
        do {
            let id = try await upstream.account()?.id ?? ""
            return .ok("account", "GET \(account.path): \(id) at \(account.id.description)")
        } catch .malformed(let message) {
            let places = transport.lastBody.map { PlaceSearch($0).objects(with: "id") } ?? []
            let place = places.first.map { $0.place.isEmpty ? "id" : "\($0.place).id" }
            return .error(
                "account", message, place.map { "set upstream.account.id: \($0)" } ?? "correct upstream.account")
        } catch {
            return .error("account", "GET \(account.path): \(error.message)", advice(on: error))
        }
    }

    private func advice(on error: UpstreamError) -> String {
        switch error {
        case .offline: "check upstream.base_url, the network and DNS; else try again later"
        case .held, .throttled: "try again later"
        case .barred: AccountAdvice.refused
        case .unclear: "try again later; if it keeps failing, correct upstream.account"
        default: "correct the token, or auth in the schema"
        }
    }
}
