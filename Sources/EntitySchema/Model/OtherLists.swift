package import JSONText

/// A list of what was deleted upstream (`pull.deleted`), with paging and a watermark of its own.
package struct TombstoneList: Sendable, Equatable {
    /// How the list is pulled.
    package var plan: PullPlan
    /// Where an entry has the key of the record that was deleted.
    package var key: Place
    /// Where it says when. Nil only for a list that names each deletion once, by tokens.
    package var at: Place?
    /// What a deletion has, in a list that also names what was created or changed; empty if every entry is a deletion.
    package var marks: [AnswerRule.Member] = []

    package func isDeletion(_ entry: JSONText) -> Bool { marks.allSatisfy { $0.holds(in: entry) } }
}

/// The list of what changed (`pull.changes`), for an upstream that has one beside the list of everything.
package struct ChangesList: Sendable, Equatable {
    package var path: String
    package var query: [QueryItem]
    package var call: ListCall?
    package var list: ListPlan
}

extension PullPlan {
    /// The same plan, with the list of changes as its only one.
    package var ofChanges: PullPlan {
        guard let changes else { return self }
        var plan = self
        (plan.path, plan.query, plan.call, plan.list) = (changes.path, changes.query, changes.call, changes.list)
        plan.changes = nil
        return plan
    }
}
