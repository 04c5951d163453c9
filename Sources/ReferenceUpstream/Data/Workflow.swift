internal import JSONText

/// The steps that one field may take; every other change of it is refused with 400.
package struct Workflow: Sendable {
    package var entity: String
    package var field: String
    /// From a value to those that may follow it.
    package var steps: [String: [String]]

    package init(entity: String, field: String, steps: [String: [String]]) {
        self.entity = entity
        self.field = field
        self.steps = steps
    }

    /// Throws when the step from `old` to `new` is not among them; staying is no step.
    func check(from old: JSONText?, to new: JSONText) throws(Refusal) {
        guard let old, old != new else { return }
        let next = steps[old.plain] ?? []
        guard !next.contains(new.plain) else { return }
        throw .step(field, from: old.plain, to: new.plain, possible: next)
    }
}
