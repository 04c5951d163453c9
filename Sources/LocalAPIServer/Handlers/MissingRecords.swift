internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer
internal import SyncEngine

/// Why there is no record to show: it does not exist (`not_found`), the list that is all there is to ask lacks it
/// (`not_listed`), or the cache cannot know now (`not_cached`).
extension Handlers {
    /// `outcome` is nil if the upstream was not asked.
    func missing(_ entity: String, _ key: String, _ outcome: RefreshOutcome? = nil) -> Problem {
        do {
            if let absence = try store.absence(of: key, entity) { return Self.problem(absence, entity, key) }
        } catch {
            return (error as? CacheError).map { Problem($0) } ?? .unavailable("\(error)")
        }
        var problem = missing("\(entity)/\(key)", outcome)
        problem.detail += Self.idAlone(entity, key) + byNaturalKey(entity, key)
        return problem
    }

    /// The same for a write, and for a read of what belongs to the record. The upstream is asked for a record only when
    /// it is read by its key, so waiting alone does not help.
    func missingUnread(_ entity: String, _ key: String) -> Problem {
        var problem = missing(entity, key)
        if problem.code == .notCached { problem.detail += readFirst(entity, key) }
        return problem
    }

    /// The same for an operation of a batch, whose transaction knows of the absence.
    func absent(_ entity: String, _ key: String, _ absence: KnownAbsence?) -> Problem {
        absence.map { Self.problem($0, entity, key) }
            ?? Problem(
                .notCached,
                "\(entity)/\(key) is not in the cache\(Self.idAlone(entity, key))\(readFirst(entity, key))")
    }

    /// Nothing for a record that only a list shows.
    private func readFirst(_ entity: String, _ key: String) -> String {
        guard let entity = schema[entity], entity.recordPath(of: .object([entity.key: entity.keyValue(key)])) != nil
        else { return "" }
        if entity.naturalKey(in: key) != nil { return "; the upstream can be asked for it by its id alone" }
        return "; read it first, which asks the upstream for it"
    }

    /// The same for something that the cache can never know not to exist, such as a content.
    func missing(_ name: String, _ outcome: RefreshOutcome?) -> Problem {
        let start = "\(name) is not in the cache"
        var problem =
            switch outcome {
            case .absent: Problem.notFound("neither the cache nor the upstream has \(name)")
            case nil, .stored, .local: Problem(.notCached, start)
            case .unsupported: Problem(.notCached, "\(start), and the upstream does not serve it by itself")
            case .unavailable(let reason): Problem(.notCached, "\(start); the upstream: \(reason)")
            case .failed(let reason): Problem(.upstreamFailed, "\(start); the upstream: \(reason)")
            case .timedOut:
                Problem(.upstreamTimeout, "\(start), and the upstream did not answer in time; try again")
            case .busy: Problem.unavailable("\(start), and too many other records are being fetched")
            }
        if let outcome { problem.headers.append(("Cache-Status", CacheStatus(missing: outcome).text)) }
        guard problem.code == .notCached else { return problem }
        if outcome == nil { problem.headers.append(("Cache-Status", CacheStatus.unasked.text)) }
        problem.headers.append(("Retry-After", String(secondsToNextTry())))
        return problem
    }

    /// For a caller that takes an answer from the cache or none (`Cache-Control: only-if-cached`).
    func onlyIfCached(_ entity: String, _ key: String) -> Problem {
        let problem = missing(entity, key)
        return problem.code == .notCached ? Self.onlyIfCached("\(entity)/\(key)") : problem
    }

    static func onlyIfCached(_ name: String) -> Problem {
        Problem(
            .onlyIfCached, "\(name) is not in the cache, and Cache-Control forbids to ask the upstream",
            headers: [("Cache-Status", CacheStatus.unasked.text)])
    }

    private static func problem(_ absence: KnownAbsence, _ entity: String, _ key: String) -> Problem {
        let name = "\(entity)/\(key)"
        let hint = idAlone(entity, key)
        return switch absence {
        case .deletedHere: .notFound("\(name) was deleted")
        case .localOnly: .notFound("there is no \(name)\(hint); such records are only on this machine")
        case .unlisted:
            Problem(
                .notListed,
                "there is no \(name) in the upstream's list\(hint), and the upstream cannot be asked for it by itself; "
                    + "one that is newer than the last sync comes with the next")
        }
    }

    /// For a caller who gave `orders/1486` where the id is `1486`.
    private static func idAlone(_ entity: String, _ key: String) -> String {
        guard key.hasPrefix("\(entity)/") else { return "" }
        return "; the id alone would be \(key.dropFirst(entity.count + 1))"
    }

    /// For a caller who gave `1486` or `#1486`, an order's number, where the id is `order_number:1486`.
    private func byNaturalKey(_ name: String, _ key: String) -> String {
        guard let entity = schema[name], entity.naturalKey(in: key) == nil else { return "" }
        let values = key.hasPrefix("#") && key != "#" ? [key, String(key.dropFirst())] : [key]
        let ids = entity.fields.filter(\.isNatural).flatMap { field in values.map { "\(field.name):\($0)" } }
        let known = ids.first { (try? store.key(of: entity, $0)) != nil }
        return known.map { "; there is \(name)/\($0)" } ?? ""
    }

    /// Until the upstream takes calls again, or the next pull begins.
    private func secondsToNextTry() -> Int64 {
        let status = engine.status()
        guard let time = status.retryAfter ?? status.nextSyncAt else { return 30 }
        return min(max(time.since(now()).components.seconds + 1, 1), 3600)
    }
}
