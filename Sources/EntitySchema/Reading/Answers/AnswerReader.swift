/// Reads how answers are recognised: `error_message`, `success`, `account_errors` and `answers` of `upstream`.
struct AnswerReader {
    let node: SchemaNode

    func plan() throws(SchemaError) -> AnswerPlan {
        AnswerPlan(
            errorMessage: try node.child("error_message")?.place(), success: try success(node.child("success")),
            accountErrors: try accountErrors(node.child("account_errors")),
            rules: try AnswerRuleReader(node: node.child("answers")).rules())
    }

    /// A place alone is short for `{ at: place, is: ["true"] }`.
    private func success(_ node: SchemaNode?) throws(SchemaError) -> AnswerPlan.Success? {
        guard let node else { return nil }
        guard node.isMapping else { return AnswerPlan.Success(place: try node.place()) }
        try node.requireKeys(["at", "is"])
        return AnswerPlan.Success(
            place: try node.required("at").place(), values: try node.child("is")?.texts() ?? ["true"])
    }

    /// A list of codes alone is short for `{ is: codes }`.
    private func accountErrors(_ node: SchemaNode?) throws(SchemaError) -> AnswerPlan.AccountErrors? {
        guard let node else { return nil }
        guard node.isMapping else { return AnswerPlan.AccountErrors(codes: try node.texts()) }
        try node.requireKeys(["at", "is"])
        return AnswerPlan.AccountErrors(
            place: try node.child("at")?.place() ?? AnswerPlan.AccountErrors.usualPlace,
            codes: try node.required("is").texts())
    }
}
