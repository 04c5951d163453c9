package import EntitySchema
internal import JSONText

extension HTTPUpstream {
    /// Some upstreams answer 404 to the page after the last one. If neither a total nor anything else says where the
    /// list ends, that page is asked for after a full last one. The 404 then counts as an empty page, if the page
    /// before is still full and the 404 comes again.
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
