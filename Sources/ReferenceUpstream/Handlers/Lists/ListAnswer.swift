internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Writes the answer with one page of a list: the rows, where the next page is, and what the next pull asks with.
struct ListAnswer {
    let handler: RequestHandler
    let request: Request
    let plan: ListPlan
    let query: ListQuery

    func answer(
        _ rows: [JSONText], total: Int, next mark: ListMark?, delta: (place: Place, value: String)?
    ) -> Answer {
        let next = mark.map(query.next)
        let rows = plan.lift.map { rows.map($0.placed) } ?? rows
        var answer = Answer.json(
            200, handler.envelope.list(rows, of: plan, query, total: total, next: next, delta: delta))
        // With the host, if the caller sent one, because most upstreams write whole addresses.
        let origin = request.headers[single: "Host"].map { "http://\($0)" } ?? ""
        switch plan.style {
        case .link:
            if let next { answer.headers.append(("Link", "<\(origin)\(next)>; rel=\"next\"")) }
        case .headerURL(let name): if let next { answer.headers.append((name, "\(origin)\(next)")) }
        case .header(let name, _): answer.headers.append((name, next ?? ""))
        case .page, .offset, .cursor, .lastRecord, .nextURL, .single: break
        }
        if let name = plan.totalHeader { answer.headers.append((name, "\(total)")) }
        return answer
    }
}
