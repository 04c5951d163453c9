package import EntitySchema
internal import JSONText

/// Several changes in one request: each result is understood by the code that understands an answer of its own.
extension HTTPUpstream {
    package func push(_ batch: BatchRequest) async throws(UpstreamError) -> [BatchResult] {
        let sent = batch.request(plan)
        let (response, secrets) = try await sendNotingSecrets(sent, accepts: { hasResults($0, of: batch) })
        let answer = BatchAnswer(batch: batch, upstream: plan, status: response.status)
        let body = try withoutSecrets(sent.secrets + secrets) { () throws(UpstreamError) in
            try caller.json(response, batch.plan.path, mayQuote: sent.mayQuote(nil))
        }
        guard let responses = answer.responses(in: body) else { throw noResults(in: response, body, sent, secrets) }
        var results: [BatchResult] = []
        for (index, response) in responses.enumerated() {
            results.append(result(of: index, response, answer, secrets))
        }
        return results
    }

    /// Whether an answer that counts as a failure has results, so that some of the changes may have been applied. In a 4xx they
    /// count if they state their status. In a 2xx they count if one of them is a failure by itself: the schema's rule that makes
    /// the whole a failure is meant for a single change, and has matched the first result.
    private func hasResults(_ response: HTTPResponse, of batch: BatchRequest) -> Bool {
        guard !caller.refusesToken(response), let body = response.json else { return false }
        let answer = BatchAnswer(batch: batch, upstream: plan, status: response.status)
        guard let results = answer.responses(in: body) else { return false }
        switch response.status {
        case 200..<300:
            return results.enumerated().contains { index, result in
                guard result != nil, case .failure = self.result(of: index, result, answer, []) else { return false }
                return true
            }
        case 400..<500: return batch.plan.status != nil && results.contains { $0 != nil }
        default: return false
        }
    }

    private func result(
        of index: Int, _ response: HTTPResponse?, _ answer: BatchAnswer, _ secrets: [String]
    ) -> BatchResult {
        let request = answer.request(of: index)
        var sent = request.request(plan, idempotencyKey: answer.batch.elements[index].idempotencyKey)
        sent.secrets += secrets
        sent.batchCall = "\(answer.batch.plan.call)"
        guard let response else {
            return .failure(
                .unclear(
                    status: answer.status,
                    "\(answer.batch.plan.call) answered \(answer.status) without a result for this change"))
        }
        var plan = plan.answers
        if let error = answer.batch.plan.error { plan.errorMessage = error }
        var caller = caller
        caller.answers = plan
        if let failure = caller.failure(response, to: sent) { return .failure(failure) }
        let change = ChangeAnswer(request: request, sent: sent, response: response, plan: plan)
        do throws(UpstreamError) {
            return .success(try acknowledgement(in: change))
        } catch {
            return .failure(error)
        }
    }

    private func noResults(
        in response: HTTPResponse, _ body: JSONText, _ sent: WireRequest, _ secrets: [String]
    ) -> UpstreamError {
        let call = "\(sent.method) \(sent.path) answered \(response.status)"
        let quote = sent.mayQuote(body) ? response.quote() : ""
        let error: UpstreamError =
            plan.answers.concernsAccount(body)
            ? .barred(status: response.status, "\(call)\(quote)")
            : .unclear(status: response.status, "\(call) without a list of results\(quote)")
        return error.withoutSecrets(sent.secrets + secrets + sent.secrets(in: body))
    }
}
