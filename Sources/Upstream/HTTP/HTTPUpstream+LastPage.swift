package import EntitySchema
internal import JSONText

extension HTTPUpstream {
    /// Some upstreams answer 404 to a page after the last one, which only they know to be the last: where neither a total nor
    /// anything else says so, a full page may be followed by another. Such an answer is an empty page if the page before is
    /// still served and full, and it is answered again.
    package func page(_ request: PageRequest) async throws(UpstreamError) -> Page {
        do {
            return try await served(request)
        } catch {
            guard case .gone(status: 404, _) = error, let before = request.before else { throw error }
            let page = try await served(before)
            page.share?.release()
            guard page.next == request.position else { throw error }
        }
        do {
            return try await served(request)
        } catch {
            guard case .gone(status: 404, _) = error else { throw error }
            return Page(records: .array([]), count: 0)
        }
    }
}
