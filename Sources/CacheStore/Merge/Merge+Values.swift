internal import EntitySchema
internal import JSONText

/// What a server makes of the values that it was sent, and sets that both sides have changed.
extension Merge {
    /// Whether the server shows a value that was sent before `local`, or the normal form of such a text. A local text that begins
    /// with that one, or a list with more elements, was not cut.
    func isEarlier(
        _ server: JSONText, than local: JSONText, of field: String, _ change: OutboxTable.Entry, _ own: OwnValues
    ) -> Bool {
        own.contains(server, of: field)
            || own.sent(field, through: change).contains { sent in
                // A correction of another field sends the same again.
                guard !own.comparison.isSame(sent, local, of: field) else { return false }
                return server.kind == .string
                    ? own.comparison.mayBe(server, of: field, from: sent)
                    : own.comparison.isSame(server, sent, of: field)
            }
    }

    /// The merged value of a field that merges as a set; nil for any other field, and when one side is not a list, or when the
    /// server has made its list of one that was sent: both together would have each element twice.
    func mergedSet(
        _ field: String, of change: OutboxTable.Entry, _ local: JSONText, _ server: JSONText, _ own: OwnValues
    ) -> JSONText? {
        guard let known = entity[field: field], known.mergesAsSet else { return nil }
        let base = change.base[field] ?? .null
        guard [base, local, server].allSatisfy({ $0.kind == .array || $0.kind == .null }) else { return nil }
        let sent = own.sent(field, through: change)
        let isRewritten = (change.tried ? sent + [local] : sent).contains {
            !known.isSame($0, server)
                && (isFilled($0, from: base, in: server) || own.comparison.mayBe(server, of: field, from: $0))
        }
        if isRewritten { return nil }
        // What earlier local changes may have set. The local list was made from the last one that the server shows.
        let shown = sent.map(\.elements).last {
            SetMerge(base: base.elements, local: $0, server: server.elements).isShown
        }
        let merge = SetMerge(
            base: shown ?? base.elements, local: local.elements, server: server.elements,
            sent: sent.flatMap(\.elements))
        return merge.merged
    }

    /// The merged value of an object of which only the members that change are sent; nil for any other field, and when both sides
    /// have changed the same member.
    func mergedMembers(
        _ field: String, of change: OutboxTable.Entry, _ local: JSONText, _ server: JSONText, _ own: OwnValues
    ) -> JSONText? {
        let base = change.base[field] ?? .null
        guard sealer.places.isEmpty, [base, local, server].allSatisfy({ $0.kind == .object }),
            entity.push.update.contains(where: { $0.encoding == .mergePatch && $0.canSend(field) })
        else { return nil }
        return MemberMerge(base: base, local: local, server: server, sent: own.sent(field, through: change)).merged
    }

    /// Whether the server shows what was sent with members that it filled in, or has merged into an object that was there.
    func isFilled(_ sent: JSONText, from before: JSONText, in server: JSONText) -> Bool {
        if sent.kind == .object { return sent.isFilled(in: server) && !sent.isFilled(in: before) }
        return FilledList(sent: sent, before: before).isShown(by: server, within: &context.records.listRoom)
    }

    /// Whether the server has cut what was sent, with enough left that is new: its text is the beginning of that one, or its list
    /// or object has a part of it.
    static func isCut(_ sent: JSONText, from before: JSONText, to server: JSONText) -> Bool {
        guard let text = sent.string?.utf8 else { return isPart(server, of: sent, besides: before) }
        guard let server = server.string?.utf8, text.starts(with: server) else { return false }
        let known = zip(before.string?.utf8 ?? "".utf8, server).prefix { $0 == $1 }.count
        return server.count - known >= leastOfCut
    }

    private static func isPart(_ server: JSONText, of sent: JSONText, besides before: JSONText) -> Bool {
        guard sent.kind == server.kind, sent.kind == .array || sent.kind == .object else { return false }
        func parts(_ value: JSONText) -> [JSONText] {
            value.kind == .object ? value.members.map { .object(members: [$0]) } : value.elements
        }
        let mine = Set(parts(sent).map { EquivalenceKey.Digest($0) })
        let known = Set(parts(before).map { EquivalenceKey.Digest($0) })
        let theirs = parts(server).map { (key: EquivalenceKey.Digest($0), size: $0.bytes.count) }
        return theirs.allSatisfy { mine.contains($0.key) }
            && theirs.reduce(0) { $0 + (known.contains($1.key) ? 0 : $1.size) } >= leastOfCut
    }

    /// How many new bytes must be left: with fewer, as in `https://shop.example`, it could be another person's.
    private static let leastOfCut = 24
}
