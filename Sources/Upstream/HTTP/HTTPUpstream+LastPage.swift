package import EntitySchema
internal import JSONText

extension HTTPUpstream {
    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        let page = try await pageOrEnd(request)
        guard let position = page.behindTotal else { return page }
        return try await lookingBehind(page, at: position, request)
    }

    /// Some upstreams count no further than a limit, or one page alone, and go on behind it. So where a full page ends with
    /// such a total, the next one is asked for. It must show something else: some upstreams repeat the last page, or begin
    /// again. If it is refused or fails, as some do beyond their limit, the pages up to here count all the same; they lack
    /// records if it says so, or asks to wait. A 404 ends the list, be it a web page.
    private func lookingBehind(
        _ page: Page, at position: String, _ request: PageRequest
    ) async throws(UpstreamError) -> Page {
        var page = page
        // Two answers that hold memory could wait for each other for ever.
        page.share?.release()
        page.share = nil
        var behind = request
        behind.position = position
        do {
            let next = try await served(behind)
            next.share?.release()
            if next.count == 0 {
                guard let partial = next.partial else { return ended(page, request) }
                page.partial = page.partial ?? partial
                return page
            }
            guard next.records != page.records, try await !isFirst(next, of: request) else { return page }
            page.next = position
            (page.passingDelta, page.delta, page.unfollowed) = (page.delta, nil, nil)
        } catch {
            switch error {
            case .gone: return ended(page, request)
            case .cancelled, .held, .unauthorized: throw error
            default:
                // If this page is not served any more either, it is not the other one that is refused.
                try await served(request).share?.release()
                if case .barred(status: 404, _, _) = error { break }
                // It may be served after a wait, or never.
                if case .throttled = error { page.partial = page.partial ?? Self.wait }
                // A page that is asked for behind the end of a short list is refused, too.
                page.refusesMore = !NextPage.mayOnlyCountPage(page, request)
            }
        }
        return page
    }

    private static let wait = "a wait for the page behind its total"

    /// The page without what its total left open, if the empty page behind it has settled that.
    private func ended(_ page: Page, _ request: PageRequest) -> Page {
        var page = page
        if NextPage.mayOnlyCountPage(page, request) { page.behindTotal = nil }
        return page
    }

    /// Whether it is the first page of the list.
    private func isFirst(_ page: Page, of request: PageRequest) async throws(UpstreamError) -> Bool {
        guard page.count == request.list.pageSize else { return false }
        var beginning = request
        beginning.position = nil
        let first = try await served(beginning)
        first.share?.release()
        return first.records == page.records
    }

    /// Some upstreams answer 404 to the page after the last one. If neither a total nor anything else says where the
    /// list ends, that page is asked for after a full last one. The 404 then counts as an empty page, if the page
    /// before is still full and the 404 comes again.
    private func pageOrEnd(_ request: PageRequest) async throws(UpstreamError) -> Page {
        do {
            return try await served(request)
        } catch {
            guard case .gone(status: 404, _) = error, let before = request.before else { throw error }
            let page = try await served(before)
            page.share?.release()
            // Only the number: after a page of unknown length, how many records came before the next one is not known here.
            func number(_ position: String?) -> Substring? { position?.prefix { $0 != "/" } }
            guard number(page.next) == number(request.position) else { throw error }
        }
        do {
            return try await served(request)
        } catch {
            guard case .gone(status: 404, _) = error else { throw error }
            return Page(records: .array([]), count: 0)
        }
    }
}
