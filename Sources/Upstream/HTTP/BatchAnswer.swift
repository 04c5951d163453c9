internal import EntitySchema
internal import JSONText

/// Finds the result of each change in the answer to a batch, and shows it as the answer that the change would have had
/// by itself.
///
/// A result counts only if it can be no other change's: one that is missing, that comes twice or that names another
/// record of the batch counts for none.
struct BatchAnswer {
    let batch: BatchRequest
    let upstream: UpstreamPlan
    /// The status of the answer as a whole.
    let status: Int

    /// In the order of the elements; nil where there is no result. Nil if the answer has no list of results.
    func responses(in body: JSONText) -> [HTTPResponse?]? {
        guard let list = batch.plan.results.value(in: body), list.kind == .array else { return nil }
        let results = matched(list.elements)
        return batch.elements.indices.map { index in
            guard let result = results[index], result.kind != .null, let response = response(result),
                !namesAnother(response, than: index)
            else { return nil }
            return response
        }
    }

    // MARK: Matching

    private func matched(_ results: [JSONText]) -> [JSONText?] {
        guard case .value(let place, _) = batch.plan.match else {
            // With one result more or less, it is not known which one belongs to which change.
            return results.count == batch.elements.count ? results : batch.elements.map { _ in .none }
        }
        var found: [ExactText: [JSONText]] = [:]
        for result in results { found[(place.value(in: result)?.plain ?? "").exact, default: []].append(result) }
        let marks = batch.elements.indices.map { (batch.mark(of: $0, upstream) ?? "").exact }
        return marks.map { mark in
            guard mark != "", marks.count(where: { $0 == mark }) == 1, let results = found[mark], results.count == 1
            else { return .none }
            return results[0]
        }
    }

    /// Whether the record in a result has the key of another element's record.
    private func namesAnother(_ response: HTTPResponse, than index: Int) -> Bool {
        let request = request(of: index)
        guard let body = response.json,
            let record = request.answered(in: body),
            let key = record[request.key]?.plain, key.exact != batch.elements[index].key.exact
        else { return false }
        return batch.elements.contains { $0.request.entity == request.entity && $0.key.exact == key.exact }
    }

    /// The request of an element, with the place where this batch has its record.
    func request(of index: Int) -> PushRequest {
        var request = batch.elements[index].request
        guard let place = batch.plan.record else { return request }
        request.record = place
        request.isRecordInherited = false
        return request
    }

    // MARK: One result

    /// Nil when it does not show what became of the change: it lacks the status whose place the schema names or, without
    /// such a place, both the answer and an error.
    private func response(_ result: JSONText) -> HTTPResponse? {
        let found = says(nothing: result) ? .none : batch.plan.answer.value(in: result)
        // Without a status, only the answer shows a success. In its place, a result may have an error.
        let isLacking = found == nil && batch.plan.status == nil && !batch.plan.answer.isNull(in: result)
        let answer = isLacking ? result : found
        var response = HTTPResponse(status: status, headers: headers(of: result))
        if let answer { response.body = Array(answer.bytes) }
        if let place = batch.plan.status {
            guard let status = place.value(in: result).flatMap(Self.status) else { return nil }
            response.status = status
        } else if let error = batch.plan.error, error.saysError(in: answer ?? .null) {
            // An error without a status: the upstream refuses this change for what it says.
            response.status = 422
        } else if isLacking {
            return nil
        }
        return response
    }

    /// Whether a result has no more than its status and what it is matched by: then there is no body.
    private func says(nothing result: JSONText) -> Bool {
        guard batch.plan.status != nil, batch.plan.answer == .itself, result.kind == .object else { return false }
        var known = Set(batch.plan.status?.paths ?? []).union(["headers"])
        if case .value(let place, _) = batch.plan.match { known.formUnion(place.paths) }
        return result.members.allSatisfy { known.contains($0.key) || $0.value.kind == .null }
    }

    /// The first number of three digits: in `201`, `"201 Created"` and `"HTTP/1.1 201 Created"`.
    static func status(_ value: JSONText) -> Int? {
        let words = value.plain.split { !$0.isASCII || !$0.isNumber }
        return words.lazy.filter { $0.count == 3 }.compactMap { Int($0) }.first { (100...599).contains($0) }
    }

    /// Of JSON, besides those that the result has as members of `headers`: `Location`, `ETag`, `Retry-After`.
    private func headers(of result: JSONText) -> [HTTPHeader] {
        let own = result["headers"].flatMap { $0.kind == .object ? $0.members : nil } ?? []
        return [HTTPHeader("Content-Type", "application/json")]
            + own.filter { !HTTPSyntax.isSameName($0.key, "Content-Type") }
            .map { HTTPHeader($0.key, $0.value.kind == .array ? $0.value.elements.first?.plain ?? "" : $0.value.plain) }
    }
}
