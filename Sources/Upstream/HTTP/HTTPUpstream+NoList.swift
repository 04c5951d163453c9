internal import EntitySchema
internal import JSONText

/// An answer to a list that has none at its place.
extension HTTPUpstream {
    /// Why the answer has no list, and what to do about it.
    func noList(
        in response: HTTPResponse, _ request: PageRequest
    ) async throws(UpstreamError) -> UpstreamError {
        let body = try caller.json(response, request.path, mayQuote: request.mayQuoteAnswer)
        let isDenied = [body["success"], body["ok"]].contains { $0?.boolean == false }
        if isDenied { return await denial(of: request, response, body) }
        let advice = ListElsewhere.advice(for: body, at: request.path, elsewhere()).map { ", \($0)" }
        let members = request.list.lone.flatMap { request.list.records.membersWithKey($0.key, in: body) }.map { place in
            ", but an object with a record in each member; set records: \(place == "*" ? #""*""# : place)"
        }
        let outer = request.list.records.outer(in: body).map { place in
            ", but an object at \(place); if that is how it says that there are none, set empty: \(place) beside records "
                + "in the schema"
        }
        let none =
            body.kind == .array && body.elements.isEmpty
            ? ", but []; if that is how it says that there are none, set empty: {} beside records in the schema" : nil
        let stray = request.list.records.strayMember(in: body).map { member in
            ", but an object whose member \(request.mayQuoteAnswer ? member.cut(toScalars: 60) : "…") is no record"
        }
        let reason = none ?? advice ?? members ?? stray ?? unlike(in: body, request.list) ?? outer
        return .malformed("\(request.path) answered no list at \(request.list.records.description)\(reason ?? "")")
    }

    /// An error in place of the list, with a status that says otherwise: in the upstream's words.
    private func denial(of list: PageRequest, _ response: HTTPResponse, _ body: JSONText) async -> UpstreamError {
        let request = list.request
        let words = request.mayQuote(body) ? ErrorText(plan.answers).words(of: response, body) : ""
        let carried = try? await token?.current()
        return UpstreamError.malformed("\(list.path) answered \(response.status) that there is no list\(words)")
            .withoutSecrets(request.secrets + request.secrets(in: body) + secrets(of: carried))
    }

    /// What stands in the place of the list, if it has a key and is no record.
    private func unlike(in body: JSONText, _ list: ListPlan) -> String? {
        guard let lone = list.lone, !list.records.paths.contains(""), let found = list.records.value(in: body),
            found.kind == .object, lone.key.value(in: found) != nil, !lone.matches(found, isOnly: false)
        else { return nil }
        return ", but an object with \(lone.key.description) that has too few of the schema's fields for a record"
    }
}
