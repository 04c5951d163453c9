import EntitySchema
import JSONText
import SyncEngine
import Upstream

/// What only further requests show: whether the next page can be read, and whether the list can be asked for what changed.
extension ListProbe {
    func nextPage(after page: Page, _ records: [JSONText]) async -> Finding? {
        guard let next = page.next else { return nil }
        let second: Page
        do {
            second = try await upstream.page(request(at: next))
        } catch {
            return .error(
                entity.name, "the next page cannot be read: \(error.message)",
                emptyAdvice(error) ?? "correct pagination")
        }
        let known = Set(records.compactMap { $0[entity.key]?.plain })
        let again = second.records.elements.filter { known.contains($0.shown(entity.key)) }.count
        if again > 0, again == second.count {
            return .error(
                entity.name, "the second page has the records of the first: the upstream does not know the parameter",
                styleAdvice)
        }
        var shared = SharedPositions(pull.list, key: entity.key)
        for page in [page, second] { shared.add(page) }
        if let words = shared.words { return .warning(entity.name, words, SharedPositions.advice) }
        guard pull.list.size != nil, page.count < pull.list.pageSize else { return nil }
        return .warning(
            entity.name, "the upstream gives \(page.count) records a page, and \(pull.list.pageSize) were asked for",
            "set pagination.page_size: \(page.count), or correct pagination.size")
    }

    // MARK: By change time

    /// Whether the upstream returns only what changed.
    func changes(_ records: [JSONText]) async -> Finding? {
        guard case .since(let parameter, let overlap) = pull.mode, pull.changes == nil else { return nil }
        let item = parameter.item(now.description)
        let asked = parameter.isInTemplate ? "since \(item.value)" : "\(item.name)=\(item.value)"
        let page: Page
        do {
            page = try await upstream.page(request(since: now.description))
        } catch {
            if let advice = emptyAdvice(error) { return .error(entity.name, "\(asked): \(error.message)", advice) }
            return .error(
                entity.name, "\(asked) is not accepted: \(error.message)",
                formatAdvice(records).map { "try \($0), or correct pull.since" } ?? "correct pull.since, or its format")
        }
        let early = page.records.elements.compactMap(entity.changeTime).filter {
            now.since($0) > overlap + .seconds(86_400)
        }
        guard !early.isEmpty else {
            return .ok(entity.name, "\(asked): \(page.count.counted("record", "records")) changed since")
        }
        return .error(
            entity.name, "\(asked) also gives \(early.count.counted("record", "records")) that changed before",
            "correct \(parameter.isInTemplate ? "what has {$since} in pull" : "pull.since.param"), which the upstream seems "
                + "not to know, or use mode: full"
                + (formatAdvice(records).map { "; or try \($0)" } ?? ""))
    }

    /// How the records have their change time, if requests have it otherwise: most upstreams take what they give.
    private func formatAdvice(_ records: [JSONText]) -> String? {
        guard case .since(let parameter, _) = pull.mode, let field = pull.changedAt,
            let text = records.lazy.compactMap({ entity.value(of: field, in: $0)?.string }).first
        else { return nil }
        if Timestamp(httpDate: text) != nil {
            return parameter.format == .http ? nil : "pull.since.format: http, as the records have it"
        }
        guard let time = Timestamp(iso8601: text), parameter.format.text(time) != text,
            let pattern = TimePattern(like: text)
        else { return nil }
        return "pull.since.format: \"\(pattern.source)\", as the records have it"
    }

    // MARK: By token

    /// Of a list whose last page has a token.
    private static let mostPages = 20

    /// Whether the upstream takes the token that it gives out. Of several pages only the last has one.
    func delta(after page: Page, _ records: [JSONText]) async -> Finding? {
        guard let place = pull.deltaToken?.place.description else { return nil }
        guard let last = await lastPage(after: page) else {
            return .ok(
                entity.name, "the token at \(place) was not tried: only the last page has it, and the list has too many"
            )
        }
        guard let delta = last.delta else { return noToken(at: place) }
        let changed: Page
        do {
            changed = try await upstream.page(pull.ofChanges.request(of: entity.name, delta: delta))
        } catch {
            return .error(
                entity.name, "the token at \(place) is not accepted: \(error.message)",
                "correct how pull.since sends it")
        }
        let keys = { (records: [JSONText]) in Set(records.compactMap { $0[entity.key]?.plain }) }
        guard !keys(records).isEmpty, keys(changed.records.elements).isSuperset(of: keys(records)) else {
            let count = changed.count.counted("record", "records")
            return .ok(entity.name, "with the token at \(place): \(count) changed since")
        }
        return .error(
            entity.name, "with the token at \(place), the list has all its records again",
            "correct pull.since.param, which the upstream seems not to know, or use mode: full")
    }

    /// Nil if it is too far, or cannot be read, which `nextPage` reports.
    private func lastPage(after page: Page) async -> Page? {
        var last = page
        for _ in 1..<Self.mostPages {
            guard let next = last.next else { return last }
            guard let page = try? await upstream.page(request(at: next)) else { return nil }
            page.share?.release()
            let passing = last.passingDelta
            last = page
            // As in a pull, an empty last page need not have a token.
            if page.next == nil, page.count == 0 { last.delta = page.delta ?? passing }
        }
        return last.next == nil ? last : nil
    }

    private func noToken(at place: String) -> Finding {
        let other = transport.lastBody.flatMap { PlaceSearch($0).places(like: place).first }
        return .error(
            entity.name, "the list has no token at \(place)",
            other.map { "set it to \($0) in pull.since" } ?? "correct pull.since, or use mode: full")
    }
}
