package import JSONText

/// What the body of an answer says by the schema's rules.
extension AnswerPlan {
    /// Whether an error concerns the account and not the request.
    package func concernsAccount(_ body: JSONText) -> Bool { accountError(in: body) != nil }

    /// The code of an error that concerns the account: one of those in the schema.
    package func accountError(in body: JSONText) -> String? {
        guard let accountErrors else { return nil }
        return accountErrors.place.paths.lazy.compactMap { body.at(path: $0)?.plain }
            .first { accountErrors.codes.contains($0) }
    }

    /// Whether the answer to a change says that it was accepted; nil when it says nothing about that.
    ///
    /// Without `upstream.success`, a member `success` or `ok` that is true or false says it.
    package func saysSuccess(_ body: JSONText) -> Bool? {
        if let success { return success.place.value(in: body).map { success.values.contains($0.plain) } }
        return body["success"]?.boolean ?? body["ok"]?.boolean
    }
}

extension Place {
    /// The record in an answer: an object with its key, or an array of exactly one.
    ///
    /// When nothing is at the place, or when the place is only a default (`isInherited`), the answer itself counts too.
    package func record(in answer: JSONText, key: String, lift: Lift?, isInherited: Bool) -> JSONText? {
        if let there = value(in: answer) {
            if let record = there.single(with: key, lift) { return record }
            guard isInherited else { return .none }
        }
        return answer.single(with: key, lift)
    }
}

extension JSONText {
    fileprivate func single(with key: String, _ lift: Lift?) -> JSONText? {
        let candidates = kind == .array ? elements : [self]
        guard candidates.count == 1, let found = candidates.first else { return .none }
        let record = lift?.lifted(found) ?? found
        return record.hasKey(key) ? record : .none
    }

    private func hasKey(_ name: String) -> Bool {
        guard kind == .object, let key = self[name], key.kind == .string || key.kind == .number else { return false }
        return !key.plain.isEmpty
    }
}
