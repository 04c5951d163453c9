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
